// Tests of segments, numbered names and paths.

package record

import (
	"bytes"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"pgregory.net/rapid"
)

func TestCutSegments(t *testing.T) {
	testrepo.Serving(t)
	rapid.Check(t, func(t *rapid.T) {
		var all, tail []byte
		var full [][]byte
		for range rapid.IntRange(1, 20).Draw(t, "appends") {
			var data []byte
			for range rapid.IntRange(0, 30).Draw(t, "lines") {
				data = append(data, bytes.Repeat([]byte("x"), rapid.SampledFrom(
					[]int{0, 1, 100, 3000, SegmentLimit - 1, SegmentLimit, 40000}).Draw(t, "length"))...)
				data = append(data, '\n')
			}
			segs := cutSegments(tail, data)
			full = append(full, segs[:len(segs)-1]...)
			tail = segs[len(segs)-1]
			all = append(all, data...)
		}
		segs := append(full, tail)
		if !bytes.Equal(bytes.Join(segs, nil), all) {
			t.Fatal("bytes were lost")
		}
		rest := all
		for i, s := range segs {
			if len(s) > SegmentLimit && bytes.Count(s, []byte("\n")) > 1 {
				t.Errorf("segment %d has %d bytes", i, len(s))
			}
			if i < len(segs)-1 && (len(s) == 0 || s[len(s)-1] != '\n') {
				t.Errorf("segment %d does not end a line", i)
			}
			if n := guessSegment(rest); n != len(s) {
				t.Errorf("segment %d: guessed %d, has %d", i, n, len(s))
			}
			rest = rest[len(s):]
		}
	})
}

func TestFindLine(t *testing.T) {
	for _, c := range []struct {
		data, line string
		want       int
	}{
		{"a\nb\na\n", "a", 4}, {"a\nb\n", "b", 2}, {"ab\nb", "b", 3}, {"ab\n", "b", -1}, {"ba\n", "b", -1},
		{"", "x", -1}, {"x", "x", 0}, {"aa\naaa\n", "aa", 0}, {"a\n\nb\n", "zz", -1},
	} {
		if got := findLine([]byte(c.data), []byte(c.line)); got != c.want {
			t.Errorf("%q in %q: %d, want %d", c.line, c.data, got, c.want)
		}
	}
}

func TestSlots(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 64*64 + 7, MaxSlots - 1} {
		hi, lo := Slot(n)
		if got, ok := parseSlot(hi, lo); !ok || got != n {
			t.Errorf("%d -> %s/%s -> %d", n, hi, lo, got)
		}
	}
	for _, bad := range [][2]string{{"000000", "64"}, {"0", "00"}, {"000000", "0"}, {"00000x", "00"},
		{"000000", "-1"}} {
		if _, ok := parseSlot(bad[0], bad[1]); ok {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func TestSafePaths(t *testing.T) {
	for p, want := range map[string]bool{
		".agentxchain/reviews/a.md":          true,
		".agentxchain/proposed/t/src/a b.go": true,
		".agentxchain/../a":                  false,
		"a":                                  false,
		".agentxchain":                       false,
		".agentxchain/":                      false,
		".agentxchain/state.json":            false,
		".agentxchain/history.jsonl":         false,
		".agentxchain/a/.git/x":              false,
		".agentxchain/a/.GIT":                false,
		".agentxchain/a\\b":                  false,
		".agentxchain//a":                    false,
		"/etc/passwd":                        false,
	} {
		if got := SafeFile(p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}
