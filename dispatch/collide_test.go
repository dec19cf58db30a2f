// Names that some file system treats as the same.

package dispatch

import (
	"fmt"
	"testing"
)

func TestNamesCollide(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"a", "b", false}, {"a", "a",
			true}, {"a", "A", true}, {"dir/a", "DIR/a", true}, {"dir/a", "dir/b", false}, {"Dir/a", "dir/b", false},
		{"a", "a/b", true}, {"a/b", "a", true}, {"a/b/c", "A/B", true}, {"ab", "a/b", false},
		{"stra\u00dfe", "stra\u1e9ee", true}, {"stra\u00dfe", "STRASSE", true}, {"\u03c3", "\u03c2", true}, {"k", "\u212a", true},
		{"a.", "a", true}, {"a ", "a", true}, {"a:b", "a", true}, {"a\u200db", "ab", true},
		// Composed and decomposed.
		{"caf\u00e9", "cafe\u0301", true}, {"CAF\u00c9", "cafe\u0301", true}, {"e\u0301", "\u00e9",
			true}, {"\u1ebf", "e\u0302\u0301", true}, {"\u00ea\u0301", "e\u0302\u0301", true},
		{"\uac00", "\u1100\u1161", true}, {"\uac01", "\u1100\u1161\u11a8",
			true}, {"\uac00", "\uac01", false}, {"\u304c", "\u304b\u3099", true},
		// Different letters.
		{"\u00e9", "\u00e8", false}, {"e\u0301", "e\u0300",
			false}, {"caf\u00e9", "cafe", false}, {"e\u0301", "e", false}, {"\u0915\u0941", "\u0915\u0942", false},
		{"m\u00e1", "m\u00e0",
			false}, {"x\u00e9", "y\u00e9", false}, {"e\u0301a", "ae\u0301", false}, {"\u0301", "\u0300", false},
	} {
		n := newNames()
		if got := n.add(tc.a); got != "" {
			t.Fatalf("%+q collides with nothing: %+q", tc.a, got)
		}
		if got := n.add(tc.b) != ""; got != tc.want {
			t.Errorf("%+q and %+q: %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("a/b", "A/b")
	f.Add("\u0301", "/\u0301")
	f.Add("e\u0301", "\u00e9")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !safePath(a) || !safePath(b) {
			t.Skip("refused before it is compared")
		}
		n := newNames()
		_ = n.add(a)
		first := n.add(b) != ""
		n = newNames()
		_ = n.add(b)
		if (n.add(a) != "") != first {
			t.Fatalf("%+q and %+q: order matters", a, b)
		}
	})
}

// A manifest with the maximum number of names, all of one shape, is still judged in a moment.
func TestNamesStayCheap(t *testing.T) {
	n := newNames()
	for i := range maxManifestFiles {
		mark := ""
		if i%2 == 0 {
			mark = "\u0301"
		}
		_ = n.add(fmt.Sprintf("%c%s", 0x4e00+i, mark))
	}
}
