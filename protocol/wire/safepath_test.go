// Tests of the path rules.

package wire

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCleanPath(t *testing.T) {
	for _, c := range []struct{ in, clean, problem string }{
		{"a", "a", ""},
		{"src/a.go", "src/a.go", ""},
		{"./src//a.go/", "src/a.go", ""},
		{"src/./a", "src/a", ""},
		{" lead and trail ", " lead and trail ", ""},
		{"new\nline/ünï", "new\nline/ünï", ""},
		{`odd\name`, `odd\name`, ""},
		{"a..b/...c/..d", "a..b/...c/..d", ""},
		{"a:b", "a:b", ""},
		{".gitignore", ".gitignore", ""},
		{".github/x", ".github/x", ""},
		{"git~2/x", "git~2/x", ""},
		{".agentxchain/state.json", ".agentxchain/state.json", ""},

		{"", "", PathEmpty}, {" \t\u00a0\ufeff", "", PathEmpty}, {".", "", PathEmpty}, {"./.", "", PathEmpty},
		{"./ ", "", PathEmpty}, {`./\x`, "", PathAbsolute}, {"./C:/x", "", PathAbsolute},
		{strings.Repeat("x", 4097), "", PathTooLong},
		{"a\x00b", "", PathNUL},
		{"/etc/passwd", "", PathAbsolute}, {`\\server\share`, "", PathAbsolute}, {`\x`, "", PathAbsolute},
		{"C:/x", "", PathAbsolute}, {`c:\x`, "", PathAbsolute}, {"/", "", PathAbsolute},
		{"..", "", PathParent}, {"../x", "", PathParent}, {"a/../b", "", PathParent}, {"a/..", "", PathParent},
		{`a\..\..\b`, "", PathParent}, {"a/.. /b", "", PathParent},
		{".git", "", PathGitDir}, {".git/config", "", PathGitDir}, {"sub/.git/config", "", PathGitDir},
		{".GIT/x", "", PathGitDir}, {".git./x", "", PathGitDir}, {".git /x", "", PathGitDir},
		{".git . /x", "", PathGitDir}, {"git~1/x", "", PathGitDir}, {"GIT~1", "", PathGitDir},
		{".g\u200cit/x", "", PathGitDir}, {"\ufeff.git/x", "", PathGitDir}, {`a\.git\x`, "", PathGitDir},
		{".git::$INDEX_ALLOCATION/x", "", PathGitDir}, {".G\u0130T/x", ".G\u0130T/x", ""},
		{".g\u0131t/x", ".g\u0131t/x", ""},
	} {
		clean, problem := CleanPath(c.in)
		if clean != c.clean || problem != c.problem {
			t.Errorf("CleanPath(%q) = %q, %q; want %q, %q", c.in, clean, problem, c.clean, c.problem)
		}
		if problem != "" && PathProblemText(problem) == problem {
			t.Errorf("%s has no text", problem)
		}
	}
}

func TestReservedForm(t *testing.T) {
	for in, want := range map[string]bool{
		".agentxchain/state.json":            true,
		"./.agentxchain/./state.json":        true,
		".agentxchain//lock.json":            true,
		".AGENTXCHAIN/HISTORY.JSONL":         true,
		`.agentxchain\decision-ledger.jsonl`: true,
		" .agentxchain/state.json":           true,
		".agentxchain/state.json.":           true,
		".agentxchain/state.json::$DATA":     true,
		".agentxchain/\u017ftate.json":       true,
		".agentx\u200bchain/state.json":      false,
		".agentx\u200dchain/state.json":      true,
		".agentxchain/state.json.bak":        false,
		"x/.agentxchain/state.json":          false,
		".agentxchain/session.json":          false,
		"":                                   false,
	} {
		if got := IsReserved(ReservedForm(in)); got != want {
			t.Errorf("%q: reserved %v", in, got)
		}
	}
}

func TestCleanPathProperties(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b c", ".", "..", "", ".git", ".GiT.", "git~1", "\u200c", "ü", `\`, ":",
		"C", " ", "~", "state.json"})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(piece, 0, 6).Draw(t, "parts")
		p := strings.Join(parts, rapid.SampledFrom([]string{"/", "//", "", `\`}).Draw(t, "sep"))
		clean, problem := CleanPath(p)
		if problem != "" {
			if clean != "" {
				t.Fatalf("%q: refused for %s, yet cleaned to %q", p, problem, clean)
			}
			return
		}
		if clean != path.Clean(p) {
			t.Fatalf("CleanPath(%q) = %q, path.Clean says %q", p, clean, path.Clean(p))
		}
		if again, problem := CleanPath(clean); again != clean || problem != "" {
			t.Fatalf("CleanPath(%q) = %q, %q", clean, again, problem)
		}
		if joined := path.Join("/project", clean); !strings.HasPrefix(joined, "/project/") {
			t.Fatalf("%q leaves the project", p)
		}
	})
}
