// Tests of ids and of loose objects.

package object

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestHashObjectIsGits(t *testing.T) {
	for _, format := range []string{FormatSHA1, FormatSHA256} {
		r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
		for _, s := range []string{"", "x", "line\n", strings.Repeat("\x00\xff", 5000)} {
			if got, want := Hash(format, KindBlob, []byte(s)),
				r.GitInput(s, "hash-object", "--stdin"); string(got) != want {
				t.Errorf("%s: %s, git says %s", format, got, want)
			}
		}
		if got, want := EmptyTree(format), r.GitInput("", "mktree"); string(got) != want {
			t.Errorf("empty tree %s, git says %s", got, want)
		}
	}
}

func TestOID(t *testing.T) {
	a := OID(strings.Repeat("a", 40))
	for _, c := range []struct {
		oid         OID
		format      string
		valid, zero bool
	}{
		{a, FormatSHA1, true, false}, {a, FormatSHA256, false, false}, {"", FormatSHA1, false, true},
		{ZeroOID(FormatSHA1), FormatSHA1, true, true}, {ZeroOID(FormatSHA256), FormatSHA256, true, true},
		{OID(strings.Repeat("A", 40)), FormatSHA1, false, false}, {a, "md5", false, false}, {"", "md5", false, true},
	} {
		if c.oid.Valid(c.format) != c.valid || c.oid.IsZero() != c.zero {
			t.Errorf("%q in %s: valid %v zero %v", c.oid, c.format, c.oid.Valid(c.format), c.oid.IsZero())
		}
	}
}

// Any content survives the loose form.
func TestLooseRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		format := rapid.SampledFrom([]string{FormatSHA1, FormatSHA256}).Draw(rt, "format")
		o := New(format, KindBlob, rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "blob"))
		var loose bytes.Buffer
		if err := encodeLoose(&loose, o); err != nil {
			rt.Fatal(err)
		}
		if kind, data, err := DecodeLoose(&loose, MaxSize); err != nil || kind != o.Kind ||
			!bytes.Equal(data, o.Data) {
			rt.Fatalf("loose: %s %q %v", kind, data, err)
		}
	})
}

func encodeLoose(w io.Writer, o Object) error {
	return Deflate(w, appendHeader(nil, o.Kind, len(o.Data)), o.Data)
}

func FuzzDecodeLoose(f *testing.F) {
	var b bytes.Buffer
	if err := encodeLoose(&b, New(FormatSHA1, KindBlob, []byte("hello"))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, content, err := DecodeLoose(bytes.NewReader(data), MaxSize)
		if err == nil && (!IsKind(kind) || len(content) > MaxSize) {
			t.Fatalf("%q %d", kind, len(content))
		}
	})
}
