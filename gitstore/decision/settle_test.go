//go:build unix

package decision

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// A git that was told to move its ref, and lost its command before it had, moves it while the next command settles.
func TestSettleWhileGitMoves(t *testing.T) {
	ctx := context.Background()
	const ref = "refs/agentxchain/runs/run_0123456789abcdef"
	r := testrepo.New(t, testrepo.Options{})
	before := object.OID(r.Git("rev-parse", "HEAD"))
	after := object.OID(r.Git("commit-tree", "-p", string(before), "-m", "moved", "HEAD^{tree}"))
	r.Git("update-ref", ref, string(before))
	repo, err := git.Discover(ctx, r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()

	p, err := StartMove(ctx, repo, Move{Op: "accept_turn", Ref: git.RefUpdate{Name: ref, New: after, Old: before}, Reflog: "x"})
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecision("1.0", t.TempDir())
	d.Participants = []Participant{p.Participant("web")}
	d.Outcome = OutcomeMove
	if err := d.Note(); err != nil {
		t.Fatal(err)
	}
	if err := p.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	mover := p.cmd.Process
	if err := mover.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := p.in.Write([]byte("commit\x00")); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = mover.Signal(syscall.SIGCONT) })
	moved, err := d.Settle(ctx)
	p.end()
	if got := r.Git("rev-parse", ref); err != nil || !moved || got != string(after) {
		t.Errorf("settled: moved %v, %v; the ref is at %s, want %s", moved, err, got, after)
	}
}
