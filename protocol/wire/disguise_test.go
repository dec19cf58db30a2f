package wire

import "testing"

func TestDisguise(t *testing.T) {
	for path, want := range map[string]string{
		".agentxchain/state.json":                 "",
		"agentxchain.json":                        "",
		"TALK.md":                                 "",
		"src/TALK.md":                             "",
		"src/Agentxchain.json":                    "",
		".agentxchain/prompts/Dev.md":             "",
		"docs/.gitignore":                         "",
		".gitattributes":                          "",
		".agentxchain/State.md":                   "",
		"":                                        "",
		"é/ü":                                     "",
		"AGENTXCHAIN.json":                        ConfigPath,
		"agentxchain.json.":                       ConfigPath,
		"agentxchain.json ":                       ConfigPath,
		"agentxchain.json::$DATA":                 ConfigPath,
		"agentxchain\u200c.json":                  ConfigPath,
		"talk.md":                                 "TALK.md",
		"Human_Tasks.md":                          "HUMAN_TASKS.md",
		".AgentXchain/state.json":                 ".agentxchain",
		".agentxchain./x":                         ".agentxchain",
		"AGENTX~1/state.json":                     ".agentxchain",
		".agentxchain/STATE.json":                 ".agentxchain/state.json",
		".agentxchain/history.jsonl.":             ".agentxchain/history.jsonl",
		".agentxchain/Staging/t/turn-result.json": ".agentxchain/staging",
		".GIT/config":                             ".git",
		"a/.git\u200c/hooks/x":                    ".git",
		"git~1/config":                            ".git",
		".agentxchain\\state.json":                ".agentxchain",
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
		{"a", "a", true}, {"a", "a/b", false}, {"a/", "a/b", true}, {"a/**", "a/b/c", true}, {"a/**", "a", true},
		{"**/x", "x", true}, {"**/x", "a/b/x", true},
		{"**/x/**/y", "x/y", true}, {"**/x/**/y", "a/x/b/c/y", true}, {"**/x/**/y", "a/y/x", false},
		{"*.go", "a.go", true}, {"*.go", "d/a.go", false}, {"?", "é", true},
		{"a*b*c", "aXbYbZc", true}, {"a*b*c", "ab", false}, {"**", "a/b", true}, {"", "a", false},
		{"a/*/c", "a/b/c", true}, {"a/*/c", "a/c", false},
	} {
		if got := MatchPath(tc.pattern, tc.path); got != tc.want {
			t.Errorf("MatchPath(%q, %q) = %v", tc.pattern, tc.path, got)
		}
	}
}

func TestDisguiseLooks(t *testing.T) {
	for path, want := range map[string]string{
		// Full-width letters, long s, Kelvin sign, invisible characters, compositions.
		"．ａｇｅｎｔｘｃｈａｉｎ/state.json":  ".agentxchain",
		".agentxchain/ſtate.json":  ".agentxchain/state.json",
		"TAL\u212a.md":             "TALK.md",
		".agentxchain/ｓtate.json":  ".agentxchain/state.json",
		".agentxchain/mißions/m":   ".agentxchain/missions",
		".agent\u00adxchain/x":     ".agentxchain",
		".agentxchain\U000e0001/x": ".agentxchain",
		".agentxchain\ufe0f/x":     ".agentxchain",
		"agentxchain。json":         "",
		"agentxchain．json":         ConfigPath,
		"agentxchain․json":         ConfigPath,
		"HUMAN_TAſKS.md":           "HUMAN_TASKS.md",
		// Short names on FAT and NTFS.
		"AGENTX~1.JSO":              ConfigPath,
		"agentx~3.jso":              ConfigPath,
		"AGENT~12/x":                ".agentxchain",
		"AG3F2A~1/state.json":       ".agentxchain",
		"HUMAN_~1.MD":               "HUMAN_TASKS.md",
		".agentxchain/HISTOR~1.JSO": ".agentxchain/history.jsonl",
		".agentxchain/STATE~1.JSO":  ".agentxchain/state.json",
		".agentxchain/MULTIR~1/x":   ".agentxchain/multirepo",
		"agentx~1.txt":              "",
		"agentx~.jso":               "",
		"age~1.jso":                 "",
		"talk~1.md":                 "",
		".agentxchain/locks~1/x":    "",
		"notes~1.md":                "",
		// A directory in place of a governed file.
		"agentxchain.json/x":        ConfigPath,
		".agentxchain/state.json/x": ".agentxchain/state.json",
		"TALK.md/x":                 "TALK.md",
		// Names that are guarded since.
		".agentxchain/Reviews/r.md":         ".agentxchain/reviews",
		".agentxchain/REPORTS/x":            ".agentxchain/reports",
		".agentxchain/PROPOS~1/x":           "",
		".agentxchain/Hooks.json":           ".agentxchain/hooks.json",
		".agentxchain/reviews/r.md":         "",
		".agentxchain/hooks.json":           "",
		".agentxchain/multirepo/state.json": "",
		".agentxchain/plugins/X":            "",
		"a/../.agentxchain/state.json":      ".agentxchain",
		"./.agentxchain/x":                  ".agentxchain",
	} {
		if got, ok := Disguise(path); got != want && ok || ok != (want != "") {
			t.Errorf("Disguise(%q) = %q, %v; want %q", path, got, ok, want)
		}
	}
}

func TestMatchFolded(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"LICENSE", "license", true}, {"LICENSE", "LICENſE", true}, {"infra/**", "INFRA/x", true},
		{"infrastructure/", "INFRAS~1/x", true}, {"infra/**", "ｉｎｆｒａ/x", true},
		{"*.key", "A.KEY", true}, {"*.key", "a.keys", false}, {"LICENSE", "LICENSES", false}, {"é", "e\u0301", true},
		{"secrets.yaml", "SECRET~1.YAM", true}, {"password.txt", "paßword.txt", true}, {"straße/", "STRASSE/x", true},
		{"stra?e", "straße", false}, // MatchPath says so
		{"**", "x", true}, {"a?c", "ABC", true}, {"LICENSE", "LICENSE.", true}, {"LICENSE", "LICENSE::$DATA", true},
	} {
		if got := MatchFolded(tc.pattern, tc.path); got != tc.want {
			t.Errorf("MatchFolded(%q, %q) = %v", tc.pattern, tc.path, got)
		}
	}
}

func TestGovernedPath(t *testing.T) {
	for path, want := range map[string]Governed{
		"agentxchain.json":                           GovernedConfig,
		"HUMAN_TASKS.md":                             GovernedTasks,
		"TALK.md":                                    GovernedLedger,
		".agentxchain/history.jsonl":                 GovernedLedger,
		".agentxchain/state.json":                    GovernedState,
		".agentxchain/dispatch/index.json":           GovernedState,
		".agentxchain/lock.json":                     GovernedOwn,
		".agentxchain/hooks.json":                    GovernedOwn,
		".agentxchain/locks/x.lock":                  GovernedOwn,
		".agentxchain/multirepo/state.json":          GovernedOwn,
		".agentxchain/intake/intents/x.json":         GovernedOwn,
		".agentxchain/missions/m.json":               GovernedOwn,
		".agentxchain/dispatch-progress-turn_1.json": GovernedOwn,
		".agentxchain/reviews/x.md":                  GovernedWork,
		".agentxchain/reports/x.md":                  GovernedWork,
		".agentxchain/proposed/t/x":                  GovernedWork,
		".agentxchain/prompts/dev.md":                NotGoverned,
		".agentxchain":                               NotGoverned,
		"src/x":                                      NotGoverned,
		".agentxchain/reviews":                       NotGoverned,
	} {
		if got := GovernedPath(path); got != want {
			t.Errorf("GovernedPath(%q) = %v, want %v", path, got, want)
		}
	}
}
