// What other tools noted, read from their own forms.

package foreign

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Notes are other people's text: a note in another form is refused as a whole, and never misread.
func TestReadNote(t *testing.T) {
	const who = "---\n" + `{"schema_version": "authorship/3.0.0", "prompts": {"k": {"agent_id": {"tool": "codex"}}}}`
	for _, tt := range []struct {
		name, note string
		ok         bool
		want       []said
	}{
		{"ranges", "a.go\n  k 1-2,5\n" + who, true, []said{
			{Claim{Source: GitAI, Agent: "codex"}, "a.go", 1, 2}, {Claim{Source: GitAI, Agent: "codex"}, "a.go", 5, 5},
		}},
		{"a name with spaces, line ends of Windows", "\"a b\"\r\n  k 7\r\n" + who, true,
			[]said{{Claim{Source: GitAI, Agent: "codex"}, "a b", 7, 7}}},
		{"a key that is not explained", "a\n  s_x::t_y 1\n" + who, true, []said{{Claim{Source: GitAI}, "a", 1, 1}}},
		{"nothing said", who, true, nil},
		{"no divider", "a\n  k 1\n", false, nil},
		{"no object", "a\n  k 1\n---\n[]", false, nil},
		{"another schema", "---\n{\"schema_version\": \"authorship/4.0.0\"}", false, nil},
		{"lines of no file", "  k 1\n" + who, false, nil},
		{"no lines", "a\n  k\n" + who, false, nil},
		{"line nought", "a\n  k 0-3\n" + who, false, nil},
		{"backwards", "a\n  k 3-1\n" + who, false, nil},
		{"no number", "a\n  k 1;2\n" + who, false, nil},
		{"too many lines", "a\n  k 1" + strings.Repeat(",1", maxRanges) + "\n" + who, false, nil},
		{"more than a number holds", "a\n  k 99999999999999999999\n" + who, false, nil},
	} {
		got, ok := readNote(tt.note)
		if ok != tt.ok || !slices.Equal(got, tt.want) {
			t.Errorf("%s: expected %v %v, got %v %v", tt.name, tt.want, tt.ok, got, ok)
		}
	}
}

// Of several sessions that claim a line the last one counts, as in the tool itself.
func TestTheLastWordCounts(t *testing.T) {
	b := &Book{commits: map[object.OID][]said{"c": {
		{Claim{Source: GitAI, Agent: "first"}, "a", 1, 9},
		{Claim{Source: GitAI, Agent: "second"}, "a", 4, 5},
		{Claim{Source: Entire, Agent: "x", Whole: true}, "a", 0, 0},
		{Claim{Source: Entire, Agent: "y", Whole: true}, "a", 0, 0},
	}}}
	agents := func(line int) []string {
		var out []string
		for _, c := range b.Claims("c", "a", line) {
			out = append(out, c.Agent)
		}
		return out
	}
	if got := agents(4); !slices.Equal(got, []string{"y", "x", "second"}) {
		t.Errorf("line 4: %v", got)
	}
	if got := agents(1); !slices.Equal(got, []string{"y", "x", "first"}) {
		t.Errorf("line 1: %v", got)
	}
	if got := b.Claims("c", "b", 4); got != nil {
		t.Errorf("another file: %v", got)
	}
	if got := (*Book)(nil).Claims("c", "a", 1); got != nil {
		t.Errorf("nothing read: %v", got)
	}
}

// FuzzGitAINote: any note of another tool is either read or left alone.
func FuzzGitAINote(f *testing.F) {
	f.Add("src/a.go\n  s_1 1-3,7\n---\n{\"schema_version\":\"" + gitAISchema +
		"\",\"sessions\":{\"s_1\":{\"agent_id\":{\"tool\":\"x\",\"model\":\"y\"}}}}")
	f.Add("a\n  h 9-1\n---\n{}")
	f.Fuzz(func(t *testing.T, note string) {
		said, ok := readNote(note)
		if !ok && said != nil {
			t.Error("not a note, and something was said")
		}
	})
}
