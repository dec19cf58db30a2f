// Tests of packs and indexes: round trips, and refusal of hostile input.

package pack

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// writeObjects writes a pack of the objects to dir, with its index, and returns its path without extension.
func writeObjects(t interface {
	Helper()
	Fatal(...any)
}, dir, format string, objs []object.Object) string {
	t.Helper()
	var pack bytes.Buffer
	w := NewWriter(&pack, format, len(objs))
	for _, o := range objs {
		if err := w.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := w.Finish(&pack)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "pack-1")
	for ext, data := range map[string][]byte{".pack": pack.Bytes(), ".idx": w.Index(sum)} {
		if err := os.WriteFile(path+ext, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestBasesAreBounded(t *testing.T) {
	c := &Bases{}
	for i := range 100 {
		c.Put(Place{nil, int64(i)}, object.KindBlob, make([]byte, baseLimit))
		c.Put(Place{nil, int64(-1 - i)}, object.KindBlob, make([]byte, baseLimit+1))
	}
	size := 0
	for _, generation := range []map[Place]packBase{c.now, c.before} {
		for _, b := range generation {
			size += len(b.data)
		}
	}
	if _, _, ok := c.Get(Place{nil, 99}); !ok || size > 2*baseBytes {
		t.Errorf("%d bytes are kept; the newest: %v", size, ok)
	}
	if c.Forget(); len(c.now)+len(c.before) > 0 {
		t.Error("something is left")
	}
}

// Any content survives the packed form.
func TestPacksRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		format := rapid.SampledFrom([]string{object.FormatSHA1, object.FormatSHA256}).Draw(rt, "format")
		var objs []object.Object
		for _, d := range rapid.SliceOfNDistinct(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 8,
			func(b []byte) string { return string(b) }).Draw(rt, "blobs") {
			objs = append(objs, object.New(format, object.KindBlob, d))
		}
		path := writeObjects(rt, dir, format, objs)
		set := &Set{Dir: dir, HashLen: object.HexLen(format) / 2}
		defer set.Close()
		for _, o := range objs {
			raw, _ := o.OID.Raw()
			p, off := set.Find(raw)
			if p == nil {
				rt.Fatalf("%s is not found", o.OID)
			}
			f, err := os.Open(p.path + ".pack")
			if err != nil {
				rt.Fatal(err)
			}
			part, err := readPart(f, new(sync.Pool), off, object.MaxSize, object.HexLen(format)/2)
			_ = f.Close()
			if err != nil || part.kind != o.Kind || !bytes.Equal(part.data, o.Data) {
				rt.Fatalf("packed: %+v %v", part, err)
			}
		}
		if p, _ := set.Find(make([]byte, object.HexLen(format)/2)); p != nil {
			rt.Fatal("found what is not there")
		}
		entries, err := ReadStored(path, object.HexLen(format)/2)
		if err != nil || len(entries) != len(objs) {
			rt.Fatalf("raw pack: %d entries, %v", len(entries), err)
		}
		_ = os.Remove(path + ".idx")
		_ = os.Remove(path + ".pack")
	})
}

func FuzzPackIndex(f *testing.F) {
	dir := f.TempDir()
	path := writeObjects(f, dir, object.FormatSHA1, []object.Object{
		object.New(object.FormatSHA1, object.KindBlob, []byte("x blob 0\n")),
		object.New(object.FormatSHA1, object.KindTree, nil),
	})
	idx, _ := os.ReadFile(path + ".idx")
	pack, _ := os.ReadFile(path + ".pack")
	f.Add(idx, pack, int64(12))
	f.Fuzz(func(t *testing.T, idx, pack []byte, off int64) {
		p := &Index{data: idx, size: int64(len(idx)), hlen: 20}
		if p.readHead() == nil {
			for i := range min(p.n, 10) {
				if raw, _, _, err := p.entry(i); err == nil {
					p.find(raw)
				}
			}
		}
		if off >= 0 {
			_, _ = readPart(bytes.NewReader(pack), new(sync.Pool), off, object.MaxSize, 20)
		}
	})
}
