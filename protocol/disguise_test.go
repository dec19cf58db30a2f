package protocol

import "testing"

func TestDisguise(t *testing.T) {
	for path, want := range map[string]string{
		".agentxchain/state.json": "", "agentxchain.json": "", "TALK.md": "", "src/TALK.md": "", "src/Agentxchain.json": "", ".agentxchain/prompts/Dev.md": "",
		"docs/.gitignore": "", ".gitattributes": "", ".agentxchain/State.md": "", "": "", "é/ü": "",
		"AGENTXCHAIN.json": ConfigFile, "agentxchain.json.": ConfigFile, "agentxchain.json ": ConfigFile, "agentxchain.json::$DATA": ConfigFile, "agentxchain\u200c.json": ConfigFile,
		"talk.md": "TALK.md", "Human_Tasks.md": "HUMAN_TASKS.md", ".AgentXchain/state.json": ".agentxchain", ".agentxchain./x": ".agentxchain",
		"AGENTX~1/state.json": ".agentxchain", ".agentxchain/STATE.json": ".agentxchain/state.json", ".agentxchain/history.jsonl.": ".agentxchain/history.jsonl",
		".agentxchain/Staging/t/turn-result.json": ".agentxchain/staging", ".GIT/config": ".git", "a/.git\u200c/hooks/x": ".git", "git~1/config": ".git", ".agentxchain\\state.json": ".agentxchain",
	} {
		if got, ok := Disguise(path); got != want || ok != (want != "") {
			t.Errorf("Disguise(%q) = %q, %v; want %q", path, got, ok, want)
		}
	}
}

func TestMatchPath(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"a", "a", true}, {"a", "a/b", false}, {"a/", "a/b", true}, {"a/**", "a/b/c", true}, {"a/**", "a", true}, {"**/x", "x", true}, {"**/x", "a/b/x", true},
		{"**/x/**/y", "x/y", true}, {"**/x/**/y", "a/x/b/c/y", true}, {"**/x/**/y", "a/y/x", false}, {"*.go", "a.go", true}, {"*.go", "d/a.go", false}, {"?", "é", true},
		{"a*b*c", "aXbYbZc", true}, {"a*b*c", "ab", false}, {"**", "a/b", true}, {"", "a", false}, {"a/*/c", "a/b/c", true}, {"a/*/c", "a/c", false},
	} {
		if got := MatchPath(tc.pattern, tc.path); got != tc.want {
			t.Errorf("MatchPath(%q, %q) = %v", tc.pattern, tc.path, got)
		}
	}
}

func TestProtectedPatterns(t *testing.T) {
	c, problems, err := DecodeConfig([]byte(`{"git_hooks":{"protected":["LICENSE","infra/**","/etc","a/../b"]}}`))
	if err != nil || len(c.Protected) != 2 {
		t.Fatalf("%v %v", c, err)
	}
	n := 0
	for _, p := range problems {
		if p.Code == ProblemGitHooks {
			n++
		}
	}
	if n != 2 {
		t.Errorf("problems %v", problems)
	}
}
