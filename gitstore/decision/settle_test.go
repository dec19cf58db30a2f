//go:build unix

package decision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// A git that was told to move its ref, and whose command died before that, moves it while the next command settles.
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

// A power cut may leave a truncated lock; a lock with a different id belongs to another process.
func TestSettleRemovesHalfALock(t *testing.T) {
	testrepo.Thorough(t)
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{RefFormat: "files"}) // the format whose locks have contents
	before := object.OID(r.Git("rev-parse", "HEAD"))
	after := r.Git("commit-tree", "-p", string(before), "-m", "moved", "HEAD^{tree}")
	gitDir := filepath.Join(r.Dir, ".git")
	for i, c := range []struct {
		name, holds string
		stays       bool
	}{
		{name: "whole", holds: after + "\n"},
		{name: "empty"},
		{name: "half", holds: after[:len(after)/2]},
		{name: "zeros", holds: strings.Repeat("\x00", len(after)+1)},
		{name: "half and zeros", holds: after[:7] + strings.Repeat("\x00", len(after)-6)},
		{name: "another's", holds: string(before) + "\n", stays: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ref := fmt.Sprintf("refs/agentxchain/runs/run_%016d", i)
			r.Git("update-ref", ref, string(before))
			lock := filepath.Join(gitDir, filepath.FromSlash(ref)+".lock")
			d := NewDecision("1.0", t.TempDir())
			d.Participants = []Participant{{
				Repo:    "web",
				GitDir:  gitDir,
				Ref:     ref,
				Old:     string(before),
				New:     after,
				Objects: r.ObjectFormat,
				Refs:    "files",
				Owner:   git.Owner{PID: 1 << 30, Host: git.HostName(), Space: process.Space()},
			}}
			if err := d.Note(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(lock, []byte(c.holds), 0o666); err != nil {
				t.Fatal(err)
			}
			moved, err := d.Settle(ctx)
			if err != nil || moved {
				t.Errorf("settled: moved %v, %v", moved, err)
			}
			_, err = os.Lstat(lock)
			if stayed := err == nil; stayed != c.stays {
				t.Errorf("the lock stayed: %v, want %v", stayed, c.stays)
			}
		})
	}
}
