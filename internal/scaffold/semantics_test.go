// Tests that the gates refuse the scaffold as it is and accept it once it is filled in.

package scaffold

import (
	"strings"
	"testing"

	agentconfig "github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
)

func TestScaffoldFailsItsGatesUntilFilled(t *testing.T) {
	// The minimum that a person has to change, file by file.
	fill := map[string]*strings.Replacer{
		".planning/PM_SIGNOFF.md":  strings.NewReplacer("Approved: NO", "Approved: YES"),
		".planning/SYSTEM_SPEC.md": nil, // every section, see below
		".planning/IMPLEMENTATION_NOTES.md": strings.NewReplacer("(Dev fills this during implementation)",
			"Added it."),
		".planning/acceptance-matrix.md": strings.NewReplacer("| (QA fills this from ROADMAP.md) | | | | | |",
			"| 1 | works | runs | pass | today | PASS |"),
		".planning/ship-verdict.md":  strings.NewReplacer("## Verdict: PENDING", "## Verdict: YES"),
		".planning/RELEASE_NOTES.md": strings.NewReplacer("(QA fills this during the QA phase)", "Users notice."),
	}
	for _, id := range IDs() {
		files := scaffold(t, id, Params{ProjectID: "p", ProjectName: "Project", Goal: "Approved: YES"})
		for path, change := range fill {
			kind := agentconfig.PathSemantics(path)
			ok, reason, _ := gates.EvaluateSemantics(kind, path, []byte(files[path]), nil)
			if ok {
				t.Errorf("%s: a fresh %s passes", id, path)
			}
			if strings.Contains(reason, "must define") || strings.Contains(reason, "must declare") ||
				strings.Contains(reason, "must preserve") {
				t.Errorf("%s: %s lacks its structure: %s", id, path, reason)
			}
			if kind == "system_spec" {
				for _, section := range []string{"## Purpose", "## Interface", "## Acceptance Tests"} {
					if !strings.Contains(reason, section) {
						t.Errorf("%s: %s of a fresh spec passes: %s", id, section, reason)
					}
				}
				var lines []string
				for line := range strings.Lines(files[path]) {
					if strings.HasPrefix(line, "(") || strings.HasPrefix(line, "- [ ]") {
						line = "real text\n"
					}
					lines = append(lines, line)
				}
				files[path] = strings.Join(lines, "")
			} else {
				files[path] = change.Replace(files[path])
			}
			if ok, reason, warnings := gates.EvaluateSemantics(kind, path, []byte(files[path]), nil); !ok ||
				len(warnings) > 0 {
				t.Errorf("%s: a filled %s is refused: %s %v", id, path, reason, warnings)
			}
		}
	}
}

func TestScaffoldConfigHasNoProblems(t *testing.T) {
	for _, id := range IDs() {
		files := scaffold(t, id, Params{ProjectID: "p", ProjectName: "Project", Goal: "Do it."})
		cfg, problems, err := agentconfig.Decode([]byte(files["agentxchain.json"]))
		if err != nil || len(problems) > 0 {
			t.Fatalf("%s: %v %s", id, err, problems.Join())
		}
		if cfg.Template != id {
			t.Errorf("%s: template %q", id, cfg.Template)
		}
	}
}
