// Tests of the refs of leases.

package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func TestLeaseRefNames(t *testing.T) {
	for _, id := range []string{"", "..", "a/b", "-x", "a b", "x.lock", "con", "a\x00", "a~1", "@{u}"} {
		if ref, err := Ref("run_1", id); fail.CodeOf(err) != fail.CodeBadRefName {
			t.Errorf("turn %q became %q: %v", id, ref, err)
		}
		if ref, err := Ref(id, "turn_1"); fail.CodeOf(err) != fail.CodeBadRefName {
			t.Errorf("run %q became %q: %v", id, ref, err)
		}
	}
	if ref, err := Ref("run_1", "turn_1"); err != nil || ref != "refs/agentxchain/leases/run_1/turn_1" {
		t.Errorf("%q, %v", ref, err)
	}
}

// TestLeaseMovesByCompareAndSwap runs on every kind of repository.
func TestLeaseMovesByCompareAndSwap(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		ctx := context.Background()
		repo, err := git.Discover(ctx, r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = repo.Close() })
		if rec, err := Read(ctx, repo, "run_1", "turn_1"); rec != nil || err != nil {
			t.Fatalf("the lease of a turn that has none: %v %v", rec, err)
		}
		now := time.Unix(1700000000, 0)
		write := func(l *run.Lease, parent object.OID) object.OID {
			oid, err := Write(ctx, repo, Record{
				Run:     l.RunID,
				Turn:    l.StepID,
				Parent:  parent,
				Data:    l.Encode(),
				At:      now,
				Subject: "lease " + l.Status,
			}, evidence.Actor{Name: "a", Email: "a@example.com"}, l.Status)
			if err != nil {
				t.Fatal(err)
			}
			return oid
		}
		first := run.NewLease("run_1", "turn_1", "a", "s1", 1, now, 0, now.Add(time.Minute))
		ref, _ := Ref("run_1", "turn_1")
		a := write(first, "")
		if err := Move(ctx, repo, []git.RefUpdate{{Name: ref, New: a}}, "issued"); err != nil {
			t.Fatal(err)
		}
		b, c := write(first.With(run.LeaseActive), a), write(first.With(run.LeaseCancelled), a)
		if err := Move(ctx, repo, []git.RefUpdate{{Name: ref, New: b, Old: a}}, "active"); err != nil {
			t.Fatal(err)
		}
		err = Move(ctx, repo, []git.RefUpdate{{Name: ref, New: c, Old: a}}, "cancelled")
		var moved *git.RefMovedError
		if !errors.As(err, &moved) || moved.Name != ref || moved.Have != b {
			t.Fatalf("a stale move: %v", err)
		}
		rec, err := Read(ctx, repo, "run_1", "turn_1")
		if err != nil || rec.Op != b || rec.Parent != a {
			t.Fatalf("%+v, %v", rec, err)
		}
		past, err := History(ctx, repo, rec, 10)
		if err != nil || len(past) != 2 || past[1].Op != a {
			t.Fatalf("history %+v, %v", past, err)
		}
		// All or none: one of two is not where it was seen.
		other, _ := Ref("run_1", "turn_2")
		d := write(run.NewLease("run_1", "turn_2", "a", "s1", 1, now, 0, now.Add(time.Minute)), "")
		err = Move(ctx, repo, []git.RefUpdate{{Name: other, New: d}, {Name: ref, New: a, Old: a}}, "both")
		if fail.CodeOf(err) != fail.CodeRefMoved {
			t.Fatalf("both: %v", err)
		}
		list, problems, err := List(ctx, repo, "run_1")
		if err != nil || len(problems) > 0 || len(list) != 1 {
			t.Fatalf("%d leases, %v, %v", len(list), problems, err)
		}
		if err := Move(ctx, repo, []git.RefUpdate{{Name: ref, Old: b}}, "pruned"); err != nil {
			t.Fatal(err)
		}
		if rec, err := Read(ctx, repo, "run_1", "turn_1"); rec != nil || err != nil {
			t.Fatalf("after pruning: %v %v", rec, err)
		}
	})
}
