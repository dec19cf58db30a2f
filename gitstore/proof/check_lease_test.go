// Tests of checking leases.

package proof

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lease"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func TestLeaseFsckFindsTokensThatWentBack(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	ctx := context.Background()
	repo, err := git.Discover(ctx, r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	now := time.Unix(1700000000, 0)
	put := func(turn string, leases ...*run.Lease) {
		ref, _ := lease.Ref("run_1", turn)
		var at object.OID
		for _, l := range leases {
			oid, err := lease.Write(ctx, repo, lease.Record{
				Run:     "run_1",
				Turn:    turn,
				Parent:  at,
				Data:    l.Encode(),
				At:      now,
				Subject: "x",
			}, evidence.Actor{Name: "a", Email: "a@example.com"}, l.Status)
			if err == nil {
				err = lease.Move(ctx, repo, []git.RefUpdate{{Name: ref, New: oid, Old: at}}, "x")
			}
			if err != nil {
				t.Fatal(err)
			}
			at = oid
		}
	}
	good := run.NewLease("run_1", "good", "a", "s", 1, now, 0, now.Add(time.Minute))
	put("good", good, good.With(run.LeaseActive), good.Restore("s2", 2, now, 0, now.Add(time.Minute)))
	back := run.NewLease("run_1", "back", "a", "s", 2, now, 0, now.Add(time.Minute))
	put("back", back, run.NewLease("run_1", "back", "b", "s", 1, now.Add(-time.Second), 0, now.Add(time.Minute)))
	stolen := run.NewLease("run_1", "stolen", "a", "s", 1, now, 0, now.Add(time.Minute))
	thief := *stolen
	thief.RunnerID = "b"
	put("stolen", stolen, &thief)
	put("other", good)
	// A ref to something else blocks the turn for everyone, and the finding says how to repair it.
	ref, _ := lease.Ref("run_1", "odd")
	tree := strings.TrimSpace(r.GitInput("", "mktree"))
	r.Git("update-ref", ref, strings.TrimSpace(r.Git("commit-tree", "-m", "x", tree)))
	var refused *fail.Error
	if _, err := lease.Read(ctx, repo, "run_1", "odd"); !errors.As(err, &refused) ||
		!strings.Contains(refused.Hint, "git update-ref -d "+ref) {
		t.Errorf("a commit that is no lease: %v", err)
	}
	f := &checker{repo: repo, ctx: ctx, report: &Report{}}
	if err := f.leases("run_1"); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, x := range f.report.Findings {
		if x.Code != FindLease || x.Repair == "" {
			t.Errorf("%+v", x)
		}
		found[x.Path] = true
		if x.Path == "" && strings.Contains(x.Message, ref) && strings.Contains(x.Repair, "git update-ref -d "+ref) {
			found[ref] = true
		}
	}
	for turn, want := range map[string]bool{"good": false, "back": true, "stolen": true, "other": true, "odd": true} {
		if found[record.LeaseRefPrefix+"run_1/"+turn] != want {
			t.Errorf("%s: found %v, want %v (%+v)", turn, !want, want, f.report.Findings)
		}
	}
}
