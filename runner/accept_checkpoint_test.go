package runner_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// TestAcceptAndCheckpoint checks that the two results equal those of the separate operations, and that a hook's
// changes to the work tree between them are seen.
func TestAcceptAndCheckpoint(t *testing.T) {
	for name, hook := range map[string]string{
		"no hook": "",
		"a hook that takes a file away": "cat >/dev/null\nrm -f src/one\n" +
			"echo '{\"verdict\":\"allow\"}'\n",
	} {
		t.Run(name, func(t *testing.T) {
			var p *project
			want := []string{"src/one", "src/two"}
			if hook == "" {
				p = newProject(t, onePhase)
			} else {
				p = hookedProject(t, "after_acceptance")
				p.write(".git/hook.sh", hook)
				want = want[1:]
			}
			turn := p.assign("dev").Turn
			p.write("src/one", "new")
			p.write("src/two", "new")
			p.stage(turn, "summary", "work", "objections", []any{}, "files_changed", []string{"src/one", "src/two"},
				"artifact", ojson.NewObject("type", "workspace"), "proposed_next_role", "dev",
				"verification", ojson.NewObject("status", "pass", "commands", []string{"true"}, "evidence_summary", "ran it",
					"machine_evidence", []*ojson.Object{ojson.NewObject("command", "true", "exit_code", 0)}))
			a, saved, err := p.r.AcceptAndCheckpoint(p.ctx, runner.AcceptOptions{})
			p.must(err)
			if a.Result == nil || a.Result.Turn.TurnID != turn.TurnID || !a.OK || a.State == nil {
				t.Errorf("the acceptance is %+v", a)
			}
			if !saved.OK || saved.Turn != turn.TurnID || saved.Commit == "" || !slices.Equal(saved.Files, want) {
				t.Errorf("the checkpoint is %+v, expected %q", saved, want)
			}
			if a.Op == saved.Op || a.Run != saved.Run {
				t.Errorf("the operations are %s of %s and %s of %s", a.Op, a.Run, saved.Op, saved.Run)
			}
			p.sound()
			if _, err := os.Stat(filepath.Join(p.dir, "src/one")); (err == nil) != (hook == "") {
				t.Error(err)
			}
		})
	}
}
