package durable

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	reset := func() {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("abcdef"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		offset    int64
		old, data string
		want      string // "" for a refusal
	}{
		{4, "ef", "EFGH", "abcdEFGH"},
		{0, "abcdef", "ABCDEF", "ABCDEF"},
		{6, "", "gh", "abcdefgh"},
		{4, "ef", "E", ""},  // shorter
		{4, "xx", "EF", ""}, // another end
		{4, "e", "EF", ""},  // not the end
		{5, "ef", "EF", ""}, // longer than the file
	} {
		reset()
		err := OverwriteRoot(root, "f", c.offset, []byte(c.old), []byte(c.data))
		got, _ := os.ReadFile(filepath.Join(dir, "f"))
		if c.want == "" {
			if err == nil || string(got) != "abcdef" {
				t.Errorf("%+v: %v, %q", c, err, got)
			}
		} else if err != nil || string(got) != c.want {
			t.Errorf("%+v: %v, %q", c, err, got)
		}
	}
	reset()
	if err := OverwriteRoot(root, "f", 5, []byte("ef"), []byte("EF")); !errors.As(err, new(*SizeError)) {
		t.Errorf("length: %v", err)
	}
	if err := OverwriteRoot(root, "none", 0, nil, []byte("x")); err == nil {
		t.Error("made a file")
	}
	if err := OverwriteRoot(root, "../f", 0, nil, []byte("x")); err == nil {
		t.Error("escaped")
	}
}

func TestPendingDiscard(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, publish := range []bool{false, true} {
		p, err := PrepareRoot(root, "f", []byte("new"), 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "f")); string(b) != "old" {
			t.Fatalf("changed before it was published: %q", b)
		}
		want := "old"
		if publish {
			want = "new"
			if err := p.Publish(); err != nil {
				t.Fatal(err)
			}
		}
		p.Discard()
		b, _ := os.ReadFile(filepath.Join(dir, "f"))
		list, _ := os.ReadDir(dir)
		if string(b) != want || len(list) != 1 {
			t.Errorf("published %v: %q, %d files", publish, b, len(list))
		}
	}
}

func TestTorn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bytesOf := func(name string) []byte { return rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 12).Draw(rt, name) }
		same, old, full := bytesOf("same"), bytesOf("old"), bytesOf("full")
		old, full = append(bytes.Clone(same), old...), append(bytes.Clone(same), full...)
		if !Torn(old, old, full) || !Torn(full, old, full) {
			rt.Fatal("the ends are not recognised")
		}
		n := rapid.IntRange(min(len(old), len(full)), max(len(old), len(full))).Draw(rt, "length")
		mix := make([]byte, n)
		for i := range mix {
			switch {
			case i < len(full) && (i >= len(old) || rapid.Bool().Draw(rt, "new")):
				mix[i] = full[i]
			case i < len(old):
				mix[i] = old[i]
			}
		}
		if !Torn(mix, old, full) {
			rt.Fatalf("%q of %q and %q", mix, old, full)
		}
		if n > 0 {
			mix[rapid.IntRange(0, n-1).Draw(rt, "at")] = 'x'
			if Torn(mix, old, full) {
				rt.Fatalf("%q of %q and %q", mix, old, full)
			}
		}
	})
}
