package attribution

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The hunks must turn one version into the other, and no more lines may change than in the shortest way, which a
// slow and plain algorithm finds.
func TestDifference(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c", "", "}"})
		before := rapid.SliceOfN(line, 0, 12).Draw(rt, "before")
		after := rapid.SliceOfN(line, 0, 12).Draw(rt, "after")
		hunks, ok := difference(before, after)
		if !ok {
			rt.Fatal("not aligned")
		}
		var built []string
		at, changed := 0, 0
		for _, h := range hunks {
			built = append(built, before[at:h.from]...)
			if len(built) != h.at {
				rt.Fatalf("hunk %+v starts at %d", h, len(built))
			}
			built = append(built, after[h.at:h.at+h.come]...)
			at = h.from + h.gone
			changed += h.gone + h.come
		}
		built = append(built, before[at:]...)
		if !slices.Equal(built, after) {
			rt.Fatalf("%q to %q yields %q by %+v", before, after, built, hunks)
		}
		if want := len(before) + len(after) - 2*longest(before, after); changed != want {
			rt.Fatalf("%d lines changed, %d would do", changed, want)
		}
	})
}

func longest(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

func TestDifferenceGivesUp(t *testing.T) {
	var before, after []string
	for i := range 3 * maxEdits {
		before = append(before, "x"+strings.Repeat("y", i%7), "old")
		after = append(after, "new", "x"+strings.Repeat("y", i%5))
	}
	if _, ok := difference(before, after); ok {
		t.Fatal("it was aligned")
	}
	marks, hunks := added(before, after, nil)
	if hunks != nil || !marks[0] || marks[1] {
		t.Fatal("without an alignment only new texts are new")
	}
}

func TestSplitLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":           nil,
		"\n":         {""},
		"a":          {"a"},
		"a\n":        {"a"},
		"a\r\nb\n\n": {"a", "b", ""},
	} {
		if got := splitLines(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNamedTurns(t *testing.T) {
	got := namedTurns("Squashed commit\n\n    Turn-ID: turn_1\n\nagentxchain-turn: turn_2\nAgentxchain-Turn: turn_2\nAgentxchain-Turn:\nTurn-IDs: x\n")
	if !slices.Equal(got, []string{"turn_1", "turn_2"}) {
		t.Fatal(got)
	}
}
