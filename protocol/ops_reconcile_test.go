// Commits that a person made during a turn.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// reconciliation takes everything committed since the turns at work began.
func (w *opsWorld) reconciliation(files ...string) *commits.ReconcileCommits {
	op := &commits.ReconcileCommits{Baseline: rev(0), Head: w.head(), Turns: []commits.ReconciledTurn{}}
	for id, t := range w.state.ActiveTurns.All() {
		if t.Baseline != nil && wire.OrEmpty(t.Baseline.HeadRef) != w.head() {
			op.Baseline = wire.OrEmpty(t.Baseline.HeadRef)
			op.Turns = append(op.Turns, commits.ReconciledTurn{TurnID: id, Files: files})
		}
	}
	op.Commits = []commits.TakenCommit{{Commit: w.head(), Author: "Ada <ada@example.org>", Subject: "a typo", Files: files}}
	return op
}

func TestReconcile(t *testing.T) {
	w := startedWorld(t, nil).inPhase("build")
	turn := w.assign("dev")
	w.write("README.md", "by a person")
	w.commit()
	w.write("src/a.go", "by the turn")
	w.stage(turn.TurnID, "files_changed", []string{"src/a.go"})
	tr := w.fails(wire.CodeArtifactMismatch, w.acceptance(turn.TurnID))
	if tr.Failure == nil || !strings.Contains(tr.Failure.Hint, "git agentxchain reconcile --show") {
		t.Fatalf("refusal %+v", tr.Failure)
	}
	w.actor.InsideTurn = turn.TurnID
	w.fails(wire.CodeInsideTurn, w.reconciliation("README.md"))
	w.actor.InsideTurn = ""
	staged := w.staged[turn.TurnID]
	tr = w.must(w.reconciliation("README.md"))
	w.wantEvents(tr, "state_reconciled_operator_commits")
	w.wantEntries(tr, "commits_reconciled")
	if w.reason(tr) != "operator_commit_reconciled" ||
		wire.OrEmpty(w.state.AcceptedIntegrationRef) != "git:"+w.head() || w.staged[turn.TurnID] != staged {
		t.Error("session, baseline or staged result")
	}
	if v, _ := w.state.Extra.Get("operator_commit_reconciliation"); v.(*ojson.Object).String(
		"accepted_head") != w.head() {
		t.Errorf("state says %v", v)
	}
	tr = w.must(w.acceptance(turn.TurnID))
	if tr.Failure != nil {
		t.Fatal(tr.Failure)
	}
	if files := w.lastRow(wire.LedgerHistory).Object("observed_artifact").Strings("files_changed"); len(files) != 1 ||
		files[0] != "src/a.go" {
		t.Errorf("the turn answers for %v", files)
	}
}

func TestReconcileRefuses(t *testing.T) {
	for path, code := range map[string]string{
		".agentxchain/state.json":          commits.CodeGovernedCommit,
		".AgentXchain/state.json":          commits.CodeGovernedCommit,
		".agentxchain/history.jsonl":       commits.CodeGovernedCommit,
		".agentxchain":                     commits.CodeGovernedCommit,
		".agentxchain/approvals/x.json":    commits.CodeGovernedCommit,
		"TALK.md":                          commits.CodeGovernedCommit,
		"kept.md":                          commits.CodeProtectedCommit,
		"src/a.go":                         "",
		"agentxchain.json":                 "",
		".agentxchain/prompts/pm.md":       "",
		".agentxchain/SESSION_RECOVERY.md": "",
	} {
		w := startedWorld(t, nil)
		w.assign("pm")
		w.commit()
		op := w.reconciliation(path)
		op.Protected = []string{"kept.md"}
		if code == "" {
			w.must(op)
			continue
		}
		w.fails(code, op)
	}
	w := startedWorld(t, nil)
	w.assign("pm")
	w.commit()
	op := w.reconciliation(commits.CriticalArtifact)
	op.Deleted = op.Commits[0].Commit
	w.fails(commits.CodeCriticalDeleted, op)
	op = w.reconciliation("a")
	op.Commits = nil
	w.fails(commits.CodeNothingReconciled, op)
	op = w.reconciliation("a")
	op.Head = rev(77)
	w.fails(wire.CodeInvalidArgument, op)
	op = w.reconciliation("a")
	op.Reason = strings.Repeat("x", change.MaxReason+1)
	w.fails(wire.CodeInvalidArgument, op)
	w.must(&Escalate{Reason: "stop"})
	w.must(w.reconciliation("a"))
	if w.state.Status != wire.StatusBlocked {
		t.Error("a block stands")
	}
	w.must(w.abandonment("over"))
	w.fails(wire.CodeInvalidStateTransition, w.reconciliation("a"))
}

// What was dirty when the turn began, and was committed since, is not the turn's; what the turn changed in it
// afterwards is.
func TestReconcileOfDirtThatWasThere(t *testing.T) {
	for _, later := range []string{"", "by the turn"} {
		w := startedWorld(t, nil)
		w.write("notes.txt", "half done")
		turn := w.assign("pm")
		w.write("notes.txt", "done")
		w.commit()
		if later != "" {
			w.write("notes.txt", later)
		}
		w.must(w.reconciliation("notes.txt"))
		seen := w.observe(w.turn(turn.TurnID))
		if got := len(seen.FilesChanged) > 0; got != (later != "") {
			t.Errorf("later %q: %v", later, seen.FilesChanged)
		}
	}
}
