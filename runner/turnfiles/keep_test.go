package turnfiles

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
)

func contents(pairs ...string) dispatch.Contents {
	c := dispatch.Contents{Files: make(map[string][]byte)}
	for i := 0; i+1 < len(pairs); i += 2 {
		c.Files[pairs[i]] = []byte(pairs[i+1])
	}
	return c
}

// sealedContents returns contents with a seal over them.
func sealedContents(t *testing.T, pairs ...string) dispatch.Contents {
	t.Helper()
	c := contents(pairs...)
	seal, err := dispatch.Seal(dispatch.Identity{
		RunID:  "run_1",
		TurnID: "turn_1",
		Role:   "dev",
	}, "2026-01-02T03:04:05.678Z", c.Files)
	if err != nil {
		t.Fatal(err)
	}
	c.Files[dispatch.ManifestFile] = seal
	return c
}

func TestChosen(t *testing.T) {
	core := contents("ASSIGNMENT.json", "a2", "PROMPT.md", "p2", "CONTEXT.md", "c2").Files
	before := sealedContents(t, "ASSIGNMENT.json", "a1", "PROMPT.md", "p1", "CONTEXT.md", "c1", "POLICY.md", "sealed",
		"gone.md", "sealed too", "edited.md", "sealed as well")
	before.Files["planted.md"] = []byte("of nobody")
	before.Files["planted-edited.md"] = []byte("of nobody")
	before.Files["edited.md"] = []byte("edited after the seal")
	after := contents("ASSIGNMENT.json", "hook", "PROMPT.md", "p2", "CONTEXT.md", "c2", "MANIFEST.json", "hook",
		"POLICY.md", "sealed", "new/deep.md", "hook",
		"edited.md", "edited after the seal", "planted.md", "of nobody", "planted-edited.md", "hook", "stdout.log",
		"x", "CONTEXT.effective.md", "x", "API_REQUEST.json", "x", "TOKEN_BUDGET.json", "x")
	got := Chosen(core, before, after)
	want := map[string]string{
		"ASSIGNMENT.json":   "a2",
		"PROMPT.md":         "p2",
		"CONTEXT.md":        "c2",
		"POLICY.md":         "sealed",
		"new/deep.md":       "hook",
		"planted-edited.md": "hook",
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
		t.Errorf("chosen %v", names)
	}
	for name, data := range want {
		if string(got[name]) != data {
			t.Errorf("%s is %q, want %q", name, got[name], data)
		}
	}
	if string(core["PROMPT.md"]) != "p2" || len(core) != 3 {
		t.Error("the core itself was changed")
	}
}

// Whatever the directory holds: the core is as it was built, and the seal covers nothing that was
// neither sealed before nor added or changed while hooks ran.
func TestChosenRapid(t *testing.T) {
	names := []string{"ASSIGNMENT.json", "PROMPT.md", "CONTEXT.md", "MANIFEST.json", "stdout.log", "a.md", "b.md",
		"d/a.md", "d/e/f"}
	files := func(t *rapid.T, label string) dispatch.Contents {
		c := dispatch.Contents{Files: make(map[string][]byte)}
		for _, n := range names {
			if rapid.Bool().Draw(t, label+n) {
				c.Files[n] = []byte(rapid.SampledFrom([]string{"1", "2"}).Draw(t, label+n+" holds"))
			}
		}
		return c
	}
	rapid.Check(t, func(t *rapid.T) {
		core := contents("ASSIGNMENT.json", "core", "PROMPT.md", "core", "CONTEXT.md", "core").Files
		before, after := files(t, "before "), files(t, "after ")
		got := Chosen(core, before, after)
		for name, data := range got {
			if c, ok := core[name]; ok {
				if string(c) != string(data) {
					t.Fatalf("%s is not the core's", name)
				}
				continue
			}
			was, there := before.Files[name]
			if now, ok := after.Files[name]; !ok || string(now) != string(data) ||
				there && string(was) == string(now) || dispatch.Core(name) || name == "stdout.log" {
				t.Fatalf("%s was sealed", name)
			}
		}
		for name, now := range after.Files {
			was, there := before.Files[name]
			if _, sealed := got[name]; !sealed && !dispatch.Core(name) && name != "stdout.log" &&
				(!there || string(was) != string(now)) {
				t.Fatalf("%s came from a hook and was left out", name)
			}
		}
	})
}
