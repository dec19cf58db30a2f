// Tests of deltas and of linking by them.

package pack

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestMakeDelta checks that both appliers of deltas restore the object.
func TestMakeDelta(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	base := []byte(strings.Repeat("a first line that is long enough\n", 3))
	try := func(base, target []byte) int {
		t.Helper()
		delta := makeDelta(base, target)
		for _, patch := range []Patcher{ApplyDelta, PatchDelta} {
			if got, err := patch(base, delta, object.MaxSize); err != nil || !bytes.Equal(got, target) {
				t.Fatalf("of %d bytes %d were to be made: %d came, %v", len(base), len(target), len(got), err)
			}
		}
		return len(delta)
	}
	for i := range 3000 {
		next := testrepo.Edited(rnd, base)
		if i%50 == 0 {
			next = append(next, make([]byte, rnd.IntN(200_000))...)
		}
		try(next, base)
		try(base, next)
		if base = next; len(base) > 400_000 {
			base = base[:1000]
		}
	}
	for _, pair := range [][2]string{{"same", "same"}, {strings.Repeat("a", 300), strings.Repeat("a", 200)}} {
		try([]byte(pair[0]), []byte(pair[1]))
	}
	long := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	if n := try(append(bytes.Clone(long), "more"...), long); n > 100 {
		t.Errorf("the beginning of a longer text takes %d bytes", n)
	}
}

func FuzzMakeDelta(f *testing.F) {
	f.Add([]byte(strings.Repeat("line\n", 30)), []byte(strings.Repeat("line\n", 20)+"more"))
	f.Fuzz(func(t *testing.T, base, target []byte) {
		if got, err := ApplyDelta(base, makeDelta(base, target), object.MaxSize); err != nil ||
			!bytes.Equal(got, target) {
			t.Fatalf("%q %v", got, err)
		}
	})
}

// TestLinkedChainsEnd folds two packs, each of which makes an object a delta of the other's, without a cycle.
func TestLinkedChainsEnd(t *testing.T) {
	a, b := object.New(object.FormatSHA1, object.KindBlob, []byte(strings.Repeat("the one\n", 50))),
		object.New(object.FormatSHA1, object.KindBlob, []byte(strings.Repeat("the other\n", 50)))
	entry := func(o object.Object, base *object.Object) Stored {
		raw, _ := o.OID.Raw()
		var w bytes.Buffer
		if base == nil {
			writeEntryHead(&w, kindNumber(o.Kind), len(o.Data))
			if err := object.Deflate(&w, o.Data); err != nil {
				t.Fatal(err)
			}
			return Stored{Raw: raw, Entry: w.Bytes()}
		}
		delta := makeDelta(base.Data, o.Data)
		of, _ := base.OID.Raw()
		writeEntryHead(&w, refDelta, len(delta))
		w.Write(of)
		if err := object.Deflate(&w, delta); err != nil {
			t.Fatal(err)
		}
		return Stored{Raw: raw, Entry: w.Bytes(), base: of}
	}
	l := newLinker(object.FormatSHA1, [][]Stored{{entry(a, &b), entry(b, nil)}, {entry(b, &a), entry(a, nil)}})
	for _, o := range []object.Object{a, b} {
		raw, _ := o.OID.Raw()
		if kind, data := l.read(string(raw), 0); kind != object.KindBlob || !bytes.Equal(data, o.Data) {
			t.Errorf("%s cannot be read", o.OID)
		}
		l.difference(string(raw), string(raw))
	}
	rawA, _ := a.OID.Raw()
	rawB, _ := b.OID.Raw()
	l.difference(string(rawB), string(rawA)) // b is the base of a
	if l.entries[string(rawB)].base != "" {
		t.Error("a circle")
	}
}
