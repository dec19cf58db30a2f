package attribution

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The lines that are not new occur in the old file in that order, and spans are apart, in order and within the
// file.
func TestNewLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c", "", "d\r"})
		file := func(name string) string {
			lines := rapid.SliceOfN(line, 0, 12).Draw(t, name)
			return strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		}
		before, after := file("before"), file("after")
		old, now := splitLines(before), splitLines(after)
		fresh := make([]bool, len(now)+1)
		last := 0
		for _, s := range newLines(before, after) {
			if s.First <= last || s.Last < s.First || s.Last > len(now) {
				t.Fatalf("span %v after line %d of %d", s, last, len(now))
			}
			last = s.Last
			for i := s.First; i <= s.Last; i++ {
				fresh[i] = true
			}
		}
		for i, l := range now {
			if fresh[i+1] {
				continue
			}
			at := slices.Index(old, l)
			if at < 0 {
				t.Fatalf("line %d is not new, and no line of before is %q from there on", i+1, l)
			}
			old = old[at+1:]
		}
	})
}

// Files that cannot be aligned are new from their first difference to their last.
func TestNewLinesOfOtherFiles(t *testing.T) {
	before, after := "head\n", "head\n"
	for range 2 * maxEdits {
		before += "x\n"
		after += "y\n"
	}
	got := newLines(before+"tail\n", after+"tail\n")
	if want := []Span{{2, 2*maxEdits + 1}}; !slices.Equal(got, want) {
		t.Errorf("expected %v, got %v", want, got)
	}
}
