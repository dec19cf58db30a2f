// Killed around lifecycle hooks: at whatever moment a command dies, the record is sound, the bundle agrees with it,
// and the next command works.
package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// addingHook counts its calls, adds to the bundles and, on request, kills the command that runs it.
const addingHook = `echo x >> .git/calls
n=$(grep -c x .git/calls)
for d in .agentxchain/dispatch/turns/*; do
  if test $AGENTXCHAIN_HOOK_PHASE = after_dispatch && test -d "$d"; then
    echo "policy of call $n" > $d/POLICY.md
    mkdir -p $d/more && echo "call $n" > $d/more/call-$n.md
  fi
done
if test -f .git/kill-$AGENTXCHAIN_HOOK_PHASE; then kill -9 $PPID; sleep 1; fi
echo '{"verdict":"allow"}'
`

// hookedProject makes a project of onePhase with a hook in each of the phases.
func hookedProject(t *testing.T, phases ...string) *project {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the hooks of this test are shell scripts")
	}
	t.Setenv(trust.Env, "1")
	p := newProject(t, func(cfg *ojson.Object) {
		onePhase(cfg)
		all := &ojson.Object{}
		for _, phase := range phases {
			mode := "blocking"
			if phase == "after_acceptance" || phase == "on_escalation" {
				mode = "advisory"
			}
			all.Set(phase, []*ojson.Object{ojson.NewObject("name", "adds", "type", "process",
				"command", []string{"sh", ".git/hook.sh"}, "timeout_ms", 30000, "mode", mode)})
		}
		cfg.Set("hooks", all)
		cfg.Object("rules").Set("max_turn_retries", 9)
	})
	p.write(".git/hook.sh", addingHook)
	return p
}

// sound checks everything that must hold between commands: the record, its replay, each bundle
// against its seal and the record, no directory of a nonexistent turn, no duplicate row.
func (p *project) sound() {
	p.t.Helper()
	p.replays()
	v, err := p.r.View(p.ctx)
	p.must(err)
	for _, turn := range v.State.ActiveTurns.All() {
		b, err := p.r.VerifyBundle(p.ctx, v, turn)
		p.must(err)
		if len(b.Problems) > 0 {
			p.t.Errorf("the bundle of %s: %+v", turn.TurnID, b.Problems)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(p.dir, wire.DispatchDir, "turn_*"))
	p.must(err)
	for _, d := range dirs {
		if !v.State.ActiveTurns.Has(filepath.Base(d)) {
			p.t.Errorf("%s is of no active turn", filepath.Base(d))
		}
	}
	for _, l := range []wire.Ledger{wire.LedgerHookAudit, wire.LedgerEvents, wire.LedgerHistory} {
		rows, err := p.r.Record().TailRows(p.ctx, l, 0, nil)
		p.must(err)
		seen := map[string]bool{}
		for _, r := range rows {
			if seen[string(r.Raw)] {
				p.t.Errorf("%s holds twice: %s", l, r.Raw)
			}
			seen[string(r.Raw)] = true
		}
	}
}

// replays checks the part of sound that must hold right after a kill.
func (p *project) replays() {
	p.t.Helper()
	report, err := p.r.Record().Fsck(p.ctx, proof.Options{Replay: true})
	p.must(err)
	if !report.Clean() {
		p.t.Errorf("fsck: %+v", report.Findings)
	}
}

// killed runs one command in a process of its own that dies at the point.
func (p *project) killed(op, turn, point string) {
	p.t.Helper()
	cmd := acceptChild(p.t, p, turn)
	cmd.Env = append(cmd.Env, "AGENTXCHAIN_TEST_OP="+op)
	if phase, ok := strings.CutPrefix(point, "during "); ok {
		p.write(".git/kill-"+phase, "")
		defer func() { p.must(os.Remove(filepath.Join(p.dir, ".git", "kill-"+phase))) }()
	} else {
		cmd.Env = append(cmd.Env, "AGENTXCHAIN_FAULT="+point)
	}
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.Exited() {
		p.t.Fatalf("%s was not killed at %s: %v %s", op, point, err, out)
	}
}

// dispatchPoints returns the points at which a dispatch with an after_dispatch hook is killed.
func dispatchPoints() []string {
	return []string{"hooks.bundle.noted", "hooks.bundle.open", "during after_dispatch", "hooks.run.after",
		"hooks.answers.after", "commit.before-objects:2", "commit.after-ref:2", "commit.after-documents:2",
		"commit.after-bundles:2"}
}

// A turn that is dispatched again keeps the bundle of its attempt until the next
// attempt is on record, supplements included.
func TestCrashWhileDispatchingAgain(t *testing.T) {
	testrepo.Thorough(t)
	for _, point := range dispatchPoints() {
		t.Run(point, func(t *testing.T) {
			p := hookedProject(t, "after_dispatch")
			turn := p.assign("dev").Turn
			dir := wire.BundleDir(turn.TurnID)
			p.sound()
			p.write(dir+"/notes-of-nobody.md", "mine")
			p.killed("reject", turn.TurnID, point)
			p.replays()
			_, err := p.r.Escalate(p.ctx, protocol.Escalate{TurnID: turn.TurnID, Reason: "the next command"})
			p.must(err)
			if got := p.read(dir + "/notes-of-nobody.md"); got != "mine" {
				t.Errorf("somebody's file is gone: %q", got)
			}
			p.must(os.Remove(filepath.Join(p.dir, dir, "notes-of-nobody.md")))
			p.sound()
			now, _ := p.state().ActiveTurns.Get(turn.TurnID)
			landed := now.Attempt == 2
			if want := slices.Contains([]string{"commit.after-ref:2", "commit.after-documents:2",
				"commit.after-bundles:2"}, point); landed != want {
				t.Errorf("attempt %d", now.Attempt)
			}
			if p.exists(dir+"/more/call-2.md") != landed {
				t.Errorf("what the second call added is there: %v", !landed)
			}
			if _, err := p.r.ReactivateRun(p.ctx, runner.ReactivateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := p.r.RejectTurn(p.ctx, runner.RejectOptions{
				TurnID: turn.TurnID,
				Reason: "again",
			}); err != nil {
				t.Fatal(err)
			}
			p.sound()
		})
	}
}

// An assignment that was never recorded leaves no bundle.
func TestCrashWhileAssigning(t *testing.T) {
	testrepo.Thorough(t)
	for _, point := range []string{"hooks.bundle.open", "during before_assignment", "during after_dispatch",
		"hooks.answers.after"} {
		t.Run(point, func(t *testing.T) {
			p := hookedProject(t, "before_assignment", "after_dispatch")
			p.killed("assign", "", point)
			a := p.assign("dev")
			p.sound()
			if n := p.state().ActiveTurns.Len(); n != 1 || !p.state().ActiveTurns.Has(a.Turn.TurnID) {
				t.Errorf("%d active turns", n)
			}
		})
	}
}

// An acceptance with hooks lands once or not at all.
func TestCrashWhileAcceptingWithHooks(t *testing.T) {
	testrepo.Thorough(t)
	points := map[string]bool{
		"hooks.run.before":         false,
		"during before_acceptance": false,
		"hooks.answers.before":     false,
		"hooks.answers.after":      false,
		"commit.before-objects:2":  false,
		"commit.after-ref:2":       true,
		"hooks.run.before:4":       true,
		"during after_acceptance":  true,
		"hooks.answers.before:2":   true,
		"commit.after-ref:3":       true,
	}
	for point, lands := range points {
		t.Run(point, func(t *testing.T) {
			p := hookedProject(t, "before_validation", "after_validation", "before_acceptance", "after_acceptance")
			turn := p.assignStaged()
			p.killed("accept", turn.TurnID, point)
			if !lands {
				if _, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: turn.TurnID}); err != nil {
					t.Fatal(err)
				}
			}
			p.replays()
			next := p.assignStaged()
			p.noDoubles(1)
			if _, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: next.TurnID}); err != nil {
				t.Fatal(err)
			}
			p.noDoubles(2)
			p.sound()
		})
	}
}
