// Leases across crashes: killed at any step, a turn is held by either the old holder or the new
// one, and accepted or not, never half.

package runner_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	stored "github.com/git-agentxchain/git-agentxchain/gitstore/lease"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// leaseJob is what a child process does with a lease.
type leaseJob struct {
	Act    string // issue, activate, resume, accept
	Holder lease.Holder
	Result []byte
}

const leaseJobVar = "AGENTXCHAIN_TEST_LEASE"

func leaseOnce(ctx context.Context, r *runner.Runner, turn string) error {
	var job leaseJob
	if err := json.Unmarshal([]byte(os.Getenv(leaseJobVar)), &job); err != nil {
		return err
	}
	var err error
	switch job.Act {
	case "issue":
		_, err = r.IssueLease(ctx, runner.IssueOptions{
			TurnID:    turn,
			RunnerID:  "other",
			SessionID: "s2",
			TTL:       time.Hour,
		})
	case "activate":
		_, err = r.ActivateLease(ctx, job.Holder)
	case "resume":
		_, err = r.ResumeLease(ctx, job.Holder, "s3", time.Hour)
	case "accept":
		_, err = r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: turn, Lease: &job.Holder, Result: job.Result})
	}
	return err
}

func TestLeaseSurvivesKills(t *testing.T) {
	points := []string{"commit.before-objects", "lease.after-objects", "commit.after-objects", "commit.before-ref",
		"refs.update.before", "refs.update.after", "commit.after-ref", "commit.before-cache"}
	acts := []string{"accept", "resume", "activate", "issue"}
	if testing.Short() || os.Getenv("AGENTXCHAIN_LONG_TESTS") != "1" {
		acts, points = acts[:1], []string{"lease.after-objects", "commit.before-ref", "refs.update.after"}
	}
	for _, act := range acts {
		t.Run(act, func(t *testing.T) {
			for _, point := range points {
				t.Run(point, func(t *testing.T) { leaseKilled(t, act, point) })
			}
		})
	}
}

func leaseKilled(t *testing.T, act, point string) {
	l := newLeasing(t, nil)
	turn := l.assign("pm").Turn
	lease := l.issue(turn.TurnID, "local", "s1", time.Hour).Lease
	h := holderOf(lease)
	data := l.result(turn)
	if act == "issue" {
		_, err := l.r.ReleaseLease(l.ctx, h, "not wanted")
		l.must(err)
	}
	job, err := json.Marshal(leaseJob{act, h, data})
	l.must(err)
	self, err := os.Executable()
	l.must(err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+l.dir, "AGENTXCHAIN_TEST_OP=lease",
		"AGENTXCHAIN_TEST_TURN="+turn.TurnID, leaseJobVar+"="+string(job), faults.Env+"="+point)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the process was to die at %s: %v\n%s", point, err, out)
	}
	l.must(l.r.Close())
	l.r = l.another()
	happened := strings.HasSuffix(point, "after-ref") || strings.HasSuffix(point, "update.after") ||
		strings.HasSuffix(point, "before-cache")
	again := func() error {
		_, err := l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &h, Result: data})
		return err
	}
	switch act {
	case "accept":
		if happened {
			wantReason(t, again(), run.RejectTerminal)
		} else {
			l.must(again())
		}
	case "resume":
		if happened {
			wantReason(t, again(), run.RejectStaleToken)
		} else {
			l.must(again())
		}
	case "activate":
		l.must(again())
	case "issue":
		_, err := l.r.IssueLease(l.ctx, runner.IssueOptions{
			TurnID:    turn.TurnID,
			RunnerID:  "third",
			SessionID: "s4",
			TTL:       time.Hour,
		})
		if happened {
			wantReason(t, err, run.RejectSession)
		} else {
			l.must(err)
		}
	}
	report, err := l.r.Record().Fsck(l.ctx, proof.Options{Replay: true})
	l.must(err)
	if !report.Clean() {
		t.Fatalf("fsck: %+v", report.Findings)
	}
}

// TestLeaseRefsBehindTheRun checks the state that a machine leaves when it stops between two refs
// of one transaction: the run has moved, the lease has not (git promises both or none only while it
// lives).
func TestLeaseRefsBehindTheRun(t *testing.T) {
	back := func(l *leasing, turn string, to object.OID) {
		rec, err := stored.Read(l.ctx, l.r.Record().Repository(), l.state().Run(), turn)
		l.must(err)
		l.must(stored.Move(l.ctx, l.r.Record().Repository(), []git.RefUpdate{{Name: rec.Ref, Old: rec.Op, New: to}},
			"the machine stopped"))
	}
	at := func(l *leasing, turn string) object.OID {
		rec, err := stored.Read(l.ctx, l.r.Record().Repository(), l.state().Run(), turn)
		l.must(err)
		return rec.Op
	}
	t.Run("accepted", func(t *testing.T) {
		l := newLeasing(t, nil)
		turn := l.assign("pm").Turn
		h := holderOf(l.issue(turn.TurnID, "local", "s1", time.Hour).Lease)
		was := at(l, turn.TurnID)
		_, err := l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &h, Result: l.result(turn)})
		l.must(err)
		back(l, turn.TurnID, was)
		_, err = l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &h, Result: l.result2(turn)})
		wantReason(t, err, run.RejectTerminal)
		if all, _, err := l.r.Leases(l.ctx, ""); err != nil || len(all) != 1 || all[0].Live {
			t.Fatalf("leases %+v, %v", all, err)
		}
	})
	t.Run("issued", func(t *testing.T) {
		l := newLeasing(t, nil)
		turn := l.assign("pm").Turn
		first := l.issue(turn.TurnID, "local", "s1", time.Hour).Lease
		back(l, turn.TurnID, "") // there was no lease before
		second := l.issue(turn.TurnID, "local", "s1", time.Hour).Lease
		if second.FencingToken.Token == first.FencingToken.Token ||
			second.FencingToken.IssuedAtMS <= first.FencingToken.IssuedAtMS {
			t.Fatalf("token %s of %d after %s of %d", second.FencingToken.Token, second.FencingToken.IssuedAtMS,
				first.FencingToken.Token, first.FencingToken.IssuedAtMS)
		}
	})
	t.Run("resumed", func(t *testing.T) {
		l := newLeasing(t, nil)
		turn := l.assign("pm").Turn
		h := holderOf(l.issue(turn.TurnID, "local", "s1", time.Hour).Lease)
		was := at(l, turn.TurnID)
		lost, err := l.r.ResumeLease(l.ctx, h, "s2", time.Hour)
		l.must(err)
		back(l, turn.TurnID, was)
		// The run knows the lease that the ref has lost: the one before completes nothing, and fsck
		// names the ref.
		_, err = l.r.ResumeLease(l.ctx, h, "s3", time.Hour)
		wantReason(t, err, run.RejectStaleToken)
		_, err = l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &h, Result: l.result(turn)})
		wantReason(t, err, run.RejectStaleToken)
		report, err := l.r.Record().Fsck(l.ctx, proof.Options{Replay: true})
		l.must(err)
		if len(report.Findings) != 1 || report.Findings[0].Code != proof.FindLease {
			t.Fatalf("fsck: %+v", report.Findings)
		}
		lostHolder := holderOf(lost.Lease)
		res, err := l.r.ResumeLease(l.ctx, lostHolder, "s3", time.Hour)
		l.must(err)
		if res.Lease.FencingToken.Token == lost.Lease.FencingToken.Token ||
			res.Lease.FencingToken.IssuedAtMS <= lost.Lease.FencingToken.IssuedAtMS {
			t.Fatalf("token %s came twice", res.Lease.FencingToken.Token)
		}
	})
}
