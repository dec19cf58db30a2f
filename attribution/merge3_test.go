package attribution

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMerge3(t *testing.T) {
	for name, c := range map[string]struct {
		base, ours, theirs, want string
		meet                     bool
	}{
		"nothing changed":         {"a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n", false},
		"only theirs":             {"a\nb\nc\n", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n", false},
		"far from each other":     {"a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n", false},
		"a line between":          {"a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", false},
		"side by side":            {"a\nb\n", "A\nb\n", "a\nB\n", "", true},
		"both at one place":       {"a\n", "a\nx\n", "a\ny\n", "", true},
		"the same on both sides":  {"a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n", "", true},
		"a last line without end": {"a\nb\nc", "A\nb\nc", "a\nb\nc\n", "A\nb\nc\n", false},
		"carriage returns stay":   {"a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "A\r\nb\r\nC\r\n", false},
		"removed and added":       {"a\nb\nc\nd\n", "b\nc\nd\n", "a\nb\nc\nd\ne\n", "b\nc\nd\ne\n", false},
		"from nothing":            {"", "", "a\n", "a\n", false},
	} {
		got, ok := merge3(c.base, c.ours, c.theirs)
		if ok == c.meet || ok && got != c.want {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, ok, c.want, !c.meet)
		}
	}
}

// merge3 merges two changes as git does; it may give up where git does not.
func TestMerge3IsGitsMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 5))
	edited := func(lines []string) []string {
		out := append([]string(nil), lines...)
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(out))
			switch rng.IntN(3) {
			case 0:
				out[at] = fmt.Sprintf("changed %d\n", rng.IntN(1000))
			case 1:
				out = append(out[:at], append([]string{fmt.Sprintf("new %d\n", rng.IntN(1000))}, out[at:]...)...)
			case 2:
				if len(out) > 4 {
					out = append(out[:at], out[at+1:]...)
				}
			}
		}
		return out
	}
	dir, merged := t.TempDir(), 0
	for range 60 {
		var base []string
		for i := range 12 + rng.IntN(20) {
			base = append(base, fmt.Sprintf("line %d\n", i))
		}
		texts := []string{strings.Join(edited(base), ""), strings.Join(base, ""), strings.Join(edited(base), "")}
		got, ok := merge3(texts[1], texts[0], texts[2])
		if !ok {
			continue
		}
		merged++
		var names []string
		for i, text := range texts {
			names = append(names, filepath.Join(dir, fmt.Sprint(i)))
			if err := os.WriteFile(names[i], []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := exec.Command("git", append([]string{"merge-file", "-p", "-q"}, names...)...).Output()
		if err != nil || string(want) != got {
			t.Fatalf("git: %v\n%s\nmerge3:\n%s\nof %q", err, want, got, texts)
		}
	}
	if merged < 10 {
		t.Errorf("only %d of 60 changes were merged", merged)
	}
}

func TestEntriesOfGitLog(t *testing.T) {
	e, err := parseEntry(":100644 100755 " + strings.Repeat("a", 40) + " " + strings.Repeat("b", 40) + " M")
	if err != nil || e.oldMode != fileMode || e.newMode != executable || e.old[0] != 'a' || e.new[0] != 'b' ||
		e.regular() {
		t.Errorf("%+v %v", e, err)
	}
	e, err = parseEntry("::100644 100644 100644 " + strings.Repeat("a", 40) + " " + strings.Repeat("c", 40) + " " +
		strings.Repeat("0", 40) + " DD")
	if err != nil || e.old[0] != 'a' || e.new != "" {
		t.Errorf("%+v %v", e, err)
	}
	for _, bad := range []string{":", ":100644 M", "::100644 100644 a b M", ":::"} {
		if _, err := parseEntry(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestRangePolicies(t *testing.T) {
	for _, bad := range []string{``, `[]`, `{"peple":[]}`, `{"people":"docs"}`, `{"people":[1]}`,
		`{"schema_version":"2.0"}`,
		`{"approvals":2}`, `{"approvals":{"at_least":-1}}`, `{"approvals":{"of":1}}`, `{"gates":[""]}`} {
		if p, err := ParseRangePolicy([]byte(bad)); err == nil {
			t.Errorf("%s is taken as %+v", bad, p)
		}
	}
	_, err := ParseRangePolicy([]byte(`{"schema_version":"1.0","approvals":{"at_least":-1}}`))
	if err == nil || !strings.Contains(err.Error(), `it has "at_least" with the value -1`) {
		t.Error(err)
	}
	p, err := ParseRangePolicy(
		[]byte(`{"schema_version":"1.0","people":["docs/**","agentxchain.json","**"],"gates":["g"],"approvals":{"at_least":2,"signed":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"docs/a/b.md": true, "agentxchain.json": true, "src/x": true,
		"sub/agentxchain.json": false, ".agentxchain/state.json": false, "sub/.agentxchain/x": false} {
		if p.leaves(path) != want {
			t.Errorf("%s is left to people: %v", path, !want)
		}
	}
	who := func(list ...Approval) []RangeFinding {
		return p.Judge(&Range{}, []*RunFacts{{Run: "r", Gates: map[string]string{"g": "passed"}, Approvals: list}})
	}
	ada, bob := Approval{
		Email:  "ada@x",
		Signed: true,
		Counts: true,
	}, Approval{Email: "bob@x", Signed: true, Counts: true}
	again := ada
	again.Email = "ADA@x"
	unsigned := bob
	unsigned.Signed = false
	if len(who(ada, bob)) != 0 || len(who(ada, again)) != 1 || len(who(ada, unsigned)) != 1 || len(who()) != 1 {
		t.Errorf("%v %v %v %v", who(ada, bob), who(ada, again), who(ada, unsigned), who())
	}
}
