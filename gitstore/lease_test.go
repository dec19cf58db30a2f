// Tests of the refs of leases.

package gitstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func TestLeaseRefNames(t *testing.T) {
	for _, id := range []string{"", "..", "a/b", "-x", "a b", "x.lock", "con", "a\x00", "a~1", "@{u}"} {
		if ref, err := LeaseRef("run_1", id); git.CodeOf(err) != git.CodeBadRefName {
			t.Errorf("turn %q became %q: %v", id, ref, err)
		}
		if ref, err := LeaseRef(id, "turn_1"); git.CodeOf(err) != git.CodeBadRefName {
			t.Errorf("run %q became %q: %v", id, ref, err)
		}
	}
	if ref, err := LeaseRef("run_1", "turn_1"); err != nil || ref != "refs/agentxchain/leases/run_1/turn_1" {
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
		s, err := newStore(repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if rec, err := ReadLease(ctx, s.repo, "run_1", "turn_1"); rec != nil || err != nil {
			t.Fatalf("a lease nobody made: %v %v", rec, err)
		}
		now := time.Unix(1700000000, 0)
		write := func(l *run.Lease, parent git.OID) git.OID {
			oid, err := WriteLease(ctx, s.repo, LeaseRecord{Run: l.RunID, Turn: l.StepID, Parent: parent, Data: l.Encode(), At: now, Subject: "lease " + l.Status}, evidence.Actor{Name: "a", Email: "a@example.com"}, l.Status)
			if err != nil {
				t.Fatal(err)
			}
			return oid
		}
		first := run.NewLease("run_1", "turn_1", "a", "s1", 1, now, 0, now.Add(time.Minute))
		ref, _ := LeaseRef("run_1", "turn_1")
		a := write(first, "")
		if err := MoveLease(ctx, s.repo, []git.RefUpdate{{Name: ref, New: a}}, "issued"); err != nil {
			t.Fatal(err)
		}
		b, c := write(first.With(run.LeaseActive), a), write(first.With(run.LeaseCancelled), a)
		if err := MoveLease(ctx, s.repo, []git.RefUpdate{{Name: ref, New: b, Old: a}}, "active"); err != nil {
			t.Fatal(err)
		}
		err = MoveLease(ctx, s.repo, []git.RefUpdate{{Name: ref, New: c, Old: a}}, "cancelled")
		var moved *git.RefMovedError
		if !errors.As(err, &moved) || moved.Name != ref || moved.Have != b {
			t.Fatalf("a stale move: %v", err)
		}
		rec, err := ReadLease(ctx, s.repo, "run_1", "turn_1")
		if err != nil || rec.Op != b || rec.Parent != a {
			t.Fatalf("%+v, %v", rec, err)
		}
		past, err := LeaseHistory(ctx, s.repo, rec, 10)
		if err != nil || len(past) != 2 || past[1].Op != a {
			t.Fatalf("history %+v, %v", past, err)
		}
		// All or none: one of two is not where it was seen.
		other, _ := LeaseRef("run_1", "turn_2")
		d := write(run.NewLease("run_1", "turn_2", "a", "s1", 1, now, 0, now.Add(time.Minute)), "")
		err = MoveLease(ctx, s.repo, []git.RefUpdate{{Name: other, New: d}, {Name: ref, New: a, Old: a}}, "both")
		if git.CodeOf(err) != git.CodeRefMoved {
			t.Fatalf("both: %v", err)
		}
		list, problems, err := Leases(ctx, s.repo, "run_1")
		if err != nil || len(problems) > 0 || len(list) != 1 {
			t.Fatalf("%d leases, %v, %v", len(list), problems, err)
		}
		if err := MoveLease(ctx, s.repo, []git.RefUpdate{{Name: ref, Old: b}}, "pruned"); err != nil {
			t.Fatal(err)
		}
		if rec, err := ReadLease(ctx, s.repo, "run_1", "turn_1"); rec != nil || err != nil {
			t.Fatalf("after pruning: %v %v", rec, err)
		}
	})
}

func TestLeaseFsckFindsTokensThatWentBack(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	ctx := context.Background()
	repo, err := git.Discover(ctx, r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStore(repo, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	now := time.Unix(1700000000, 0)
	put := func(turn string, leases ...*run.Lease) {
		ref, _ := LeaseRef("run_1", turn)
		var at git.OID
		for _, l := range leases {
			oid, err := WriteLease(ctx, s.repo, LeaseRecord{Run: "run_1", Turn: turn, Parent: at, Data: l.Encode(), At: now, Subject: "x"}, evidence.Actor{Name: "a", Email: "a@example.com"}, l.Status)
			if err == nil {
				err = MoveLease(ctx, s.repo, []git.RefUpdate{{Name: ref, New: oid, Old: at}}, "x")
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
	// What is no lease at all keeps everybody away from the turn, and says how to mend it.
	ref, _ := LeaseRef("run_1", "odd")
	tree := strings.TrimSpace(r.GitInput("", "mktree"))
	r.Git("update-ref", ref, strings.TrimSpace(r.Git("commit-tree", "-m", "x", tree)))
	var refused *git.Error
	if _, err := ReadLease(ctx, s.repo, "run_1", "odd"); !errors.As(err, &refused) || !strings.Contains(refused.Hint, "git update-ref -d "+ref) {
		t.Errorf("a commit that is no lease: %v", err)
	}
	f := &fsck{repo: s.repo, ctx: ctx, report: &FsckReport{}}
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
