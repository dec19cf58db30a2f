package archive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// Clones that never meet add statements of the same runs. Joined in any order, and more than once, they all arrive
// at the same tree, which git finds well formed, and no statement is lost.
func TestStatementsAreJoinedInAnyOrder(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, x *testrepo.Repo) {
		ctx := t.Context()
		r, err := git.Discover(ctx, x.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		rng := rand.New(rand.NewPCG(19, 6))
		join := func(a, b object.OID) object.OID {
			t.Helper()
			both, err := JoinSaid(ctx, r, a, b)
			if err != nil {
				t.Fatal(err)
			}
			return both
		}
		for range 20 {
			var sides [3]object.OID
			want := make(map[string][]string)
			for i := range sides {
				some := make(map[string][][]byte)
				for range rng.IntN(4) {
					// run_1 and run_1-2 sort differently as directories than as names.
					run := []string{"run_1", "run_1-2", "run_2"}[rng.IntN(3)]
					text := fmt.Sprintf("statement %d of %s", rng.IntN(4), run)
					some[run] = append(some[run], []byte(text))
					if !slices.Contains(want[run], text) {
						want[run] = append(want[run], text)
					}
				}
				for run, list := range some {
					slices.SortFunc(list, func(a, b []byte) int { return strings.Compare(string(a), string(b)) })
					some[run] = slices.CompactFunc(list, func(a, b []byte) bool { return string(a) == string(b) })
				}
				if sides[i], err = AddSaid(ctx, r, "", some); err != nil {
					t.Fatal(err)
				}
			}
			all := join(sides[0], join(sides[1], sides[2]))
			if other := join(join(sides[2], sides[0]), sides[1]); other != all {
				t.Fatalf("joined in another order they are %s, not %s", other, all)
			}
			for i, side := range sides {
				if join(all, side) != all {
					t.Errorf("side %d, joined once more, changes the outcome", i)
				}
				if ok, err := HoldsSaid(ctx, r, all, side); err != nil || !ok {
					t.Errorf("side %d is not part of the outcome: %v", i, err)
				}
				if ok, err := HoldsSaid(ctx, r, side, all); err != nil || ok != (side == all) {
					t.Errorf("side %d is said to hold everything: %v, %v", i, ok, err)
				}
			}
			got := statementsOf(ctx, t, r, all)
			for run := range want {
				slices.Sort(want[run])
				if !slices.Equal(got[run], want[run]) {
					t.Errorf("of %s there are %q, want %q", run, got[run], want[run])
				}
			}
			if len(got) != len(want) {
				t.Errorf("there are statements of %d runs, want %d", len(got), len(want))
			}
			if all == "" {
				continue
			}
			commit, err := Write(ctx, r, List{}, all, object.Signature{Name: "a", Email: "b"}, "list")
			if err != nil {
				t.Fatal(err)
			}
			if said, err := SaidAt(ctx, r, commit); err != nil || said != all {
				t.Errorf("the commit holds %s, %v; want %s", said, err, all)
			}
			x.Git("update-ref", ListPrefix+"2026", string(commit))
		}
		x.Fsck()
	})
}

func statementsOf(ctx context.Context, t *testing.T, r *git.Repository, said object.OID) map[string][]string {
	t.Helper()
	of, err := SaidOf(ctx, r, said)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]string)
	for run, tree := range of {
		list, err := Statements(ctx, r, tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range list {
			out[run] = append(out[run], string(data))
		}
		slices.Sort(out[run])
	}
	return out
}

// Foreign files with other names are skipped.
func TestStatementsOfAnotherFormArePassedOver(t *testing.T) {
	x := testrepo.New(t, testrepo.Options{})
	ctx := t.Context()
	r, err := git.Discover(ctx, x.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	blob := x.GitInput("text", "hash-object", "-w", "--stdin")
	inner := x.GitInput("120000 blob "+blob+"\tlink.dsse.json\n100644 blob "+blob+"\tnotes\n"+
		"100644 blob "+blob+"\tright.dsse.json\n", "mktree")
	said := x.GitInput("040000 tree "+inner+"\t-x\n100644 blob "+blob+"\trun_file\n040000 tree "+inner+"\trun_1\n",
		"mktree")
	got := statementsOf(ctx, t, r, object.OID(said))
	if len(got) != 1 || !slices.Equal(got["run_1"], []string{"text"}) {
		t.Errorf("read %q, want the one statement of run_1", got)
	}
}
