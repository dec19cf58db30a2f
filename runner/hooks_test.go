// Tests of the calls of lifecycle hooks.
package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// told returns the payloads that the hooks of a phase received, in order.
func (p *project) told(phase string) []*ojson.Object {
	p.t.Helper()
	var out []*ojson.Object
	for line := range strings.Lines(p.read(".git/seen")) {
		o, err := ojson.DecodeObject([]byte(line))
		p.must(err)
		if o.String("hook_phase") == phase {
			out = append(out, o.Object("payload"))
		}
	}
	return out
}

// The changes of a turn are sorted by the state of the files when it began.
func TestObservedChangesOfATurn(t *testing.T) {
	p := hookedProject(t, "before_acceptance")
	p.write(".git/hook.sh", "cat >> .git/seen\necho >> .git/seen\necho '{\"verdict\":\"allow\"}'\n")
	for _, f := range []string{"src/changed", "src/deleted", "src/staged-away", "src/same", "src/back"} {
		p.write(f, "old")
	}
	_, err := gitcommit.Paths(p.ctx, p.r.Record().Repository(), []string{"src"}, "sources")
	p.must(err)
	turn := p.assign("dev").Turn
	p.write("src/changed", "new")
	p.must(os.Remove(filepath.Join(p.dir, "src/deleted")))
	p.must(os.Remove(filepath.Join(p.dir, "src/staged-away")))
	p.write("src/added", "new")
	p.write("src/deep/added", "new")
	// A commit of the actor's own is part of the turn too.
	p.write("src/committed", "new")
	p.write("src/back", "new")
	_, err = gitcommit.Paths(p.ctx, p.r.Record().Repository(), []string{"src/committed", "src/back"}, "actor's own")
	p.must(err)
	files := []string{"src/added", "src/back", "src/changed", "src/committed", "src/deep/added", "src/deleted",
		"src/staged-away"}
	p.stage(turn, "summary", "work", "objections", []any{}, "files_changed", files,
		"artifact", ojson.NewObject("type", "workspace"), "proposed_next_role", "dev",
		"verification", ojson.NewObject("status", "pass", "commands", []string{"true"}, "evidence_summary", "ran it",
			"machine_evidence", []*ojson.Object{ojson.NewObject("command", "true", "exit_code", 0)}))
	_, err = p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	p.must(err)
	got := string(ojson.Compact(p.told("before_acceptance")[0].Object("observed_changes")))
	if want := `{"added":["src/added","src/committed","src/deep/added"],"modified":["src/back","src/changed"],"deleted":["src/deleted","src/staged-away"]}`; got != want {
		t.Errorf("observed %s\nwant     %s", got, want)
	}
}

// RunHooks is for callers that drive a phase themselves: the answers are recorded, the run does not
// move, and a phase without hooks leaves no trace.
func TestRunHooks(t *testing.T) {
	p := hookedProject(t, "before_gate")
	turn := p.assign("dev").Turn
	before, state := p.log(), p.read(string(wire.DocState))
	out, err := p.r.RunHooks(p.ctx, hooks.Call{Phase: "after_acceptance", TurnID: turn.TurnID})
	p.must(err)
	if !out.OK || len(out.Result.Entries) > 0 || p.log() != before {
		t.Errorf("no hooks: %+v, %d operations", out, p.log()-before)
	}
	p.write(".git/hook.sh", "echo '{\"verdict\":\"block\",\"message\":\"no\"}'\n")
	out, err = p.r.RunHooks(p.ctx, hooks.Call{
		Phase:   "before_gate",
		TurnID:  turn.TurnID,
		Payload: ojson.NewObject("k", "v"),
	})
	p.must(err)
	if out.OK || out.Code != "hook_blocked" || !out.Result.Blocked || out.Result.Blocker.Message != "no" {
		t.Errorf("outcome %+v", out)
	}
	if p.log() != before+1 || p.read(string(wire.DocState)) != state {
		t.Errorf("%d operations, or the state has changed", p.log()-before)
	}
	rows, err := p.r.Record().TailRows(p.ctx, wire.LedgerHookAudit, 0, nil)
	p.must(err)
	if len(rows) != 1 || rows[0].Row.String("orchestrator_action") != "blocked" ||
		rows[0].Row.String("run_id") != p.state().Run() {
		t.Errorf("rows %v", rows)
	}
	p.sound()
	t.Setenv(trust.Env, "")
	if _, err := p.r.RunHooks(p.ctx,
		hooks.Call{Phase: "before_gate"}); runner.ErrorCode(err) != trust.CodeHooksUntrusted {
		t.Errorf("untrusted: %v", err)
	}
}

// log counts the operations of the run.
func (p *project) log() int {
	p.t.Helper()
	ops, err := p.r.Record().Log(p.ctx, p.state().Run(), 0)
	p.must(err)
	return len(ops)
}

// A ledger too big to be kept in memory is restored from the record.
func TestBigLedgerIsRestored(t *testing.T) {
	testrepo.Thorough(t)
	p := hookedProject(t, "before_assignment")
	p.write(".git/hook.sh", "echo '{\"verdict\":\"allow\"}'\n")
	p.assign("dev")
	// The next command records what the person writes into the running notes.
	talk := wire.LedgerTalk.Path()
	p.write(talk, p.read(talk)+strings.Repeat(strings.Repeat("talk ", 200)+"\n", 9<<20/1000))
	_, err := p.r.ReissueTurn(p.ctx, runner.ReissueOptions{Reason: "x"})
	p.must(err)
	before := p.read(talk)
	if len(before) < 9<<20 {
		t.Fatalf("%d bytes", len(before))
	}
	p.write(".git/hook.sh", "echo x > "+talk+"\necho '{\"verdict\":\"allow\"}'\n")
	_, err = p.r.ReissueTurn(p.ctx, runner.ReissueOptions{Reason: "x"})
	if code := runner.ErrorCode(err); code != hooks.CodeBundleTamper {
		t.Errorf("%v", err)
	}
	if p.read(talk) != before {
		t.Error("it is not what it was")
	}
	p.sound()
	if s := p.state(); s.Status != wire.StatusBlocked {
		t.Errorf("the run is %s", s.Status)
	}
}

// The next command is computed from the work tree as the operation saw it, once, and from the
// present tree where a hook may have written files since.
func TestNextSeesTheWorkTree(t *testing.T) {
	const stray = "git status"
	for _, hook := range []bool{false, true} {
		var phases []string
		if hook {
			phases = []string{"after_acceptance"}
		}
		p := hookedProject(t, phases...)
		p.write(".git/hook.sh", "cat >/dev/null\necho x > stray.txt\necho '{\"verdict\":\"allow\"}'\n")
		turn := p.assign("dev").Turn
		p.stage(turn, "summary", "looked", "objections", review("OBJ-001"), "files_changed", []string{},
			"artifact", ojson.NewObject("type", "review"), "proposed_next_role", "dev")
		_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
		p.must(err)
		if n := p.r.Next(p.ctx); n == nil || (n.Command == stray) != hook {
			t.Errorf("hook %v: next is %+v", hook, n)
		}
		p.write("stray.txt", "x")
		if n := p.r.Next(p.ctx); n == nil || n.Command != stray {
			t.Errorf("hook %v: after a file was written, next is %+v", hook, n)
		}
	}
}
