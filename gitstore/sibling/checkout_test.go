package sibling

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestSiblingCheckoutCountsAsGit compares the distances between commits with git's own count, with merges and with
// equal dates.
func TestSiblingCheckoutCountsAsGit(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	r.Git("commit", "-q", "--allow-empty", "-m", "first")
	run := func(args ...string) string { return strings.TrimSpace(r.Git(args...)) }
	tree := run("rev-parse", "HEAD^{tree}")
	tips := []string{run("rev-parse", "HEAD")}
	commit := func(parents ...int) {
		args := []string{"commit-tree", "-m", fmt.Sprint(len(tips)), tree}
		for _, i := range parents {
			args = append(args, "-p", tips[i])
		}
		tips = append(tips, run(args...))
	}
	commit(0)
	commit(0)
	commit(1)
	commit(2, 3)
	commit(3)
	commit(5, 4)
	commit(4)
	x, err := Open(t.Context(), r.Dir, &Trust{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	for _, a := range tips {
		for _, b := range tips {
			want := run("rev-list", "--left-right", "--count", a+"..."+b)
			ahead, behind := x.apart(t.Context(), object.OID(a), object.OID(b), false)
			if got := fmt.Sprintf("%d\t%d", ahead, behind); got != want {
				t.Errorf("%.7s...%.7s: %s, git says %s", a, b, got, want)
			}
		}
	}
}

// TestSiblingHead reads what is checked out in every kind of clone: on a branch, detached, before the first commit.
func TestSiblingHead(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		head := object.OID(r.Git("rev-parse", "HEAD"))
		expect := func(branch string, oid object.OID) {
			t.Helper()
			x, err := Open(t.Context(), r.Dir, &Trust{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = x.Close() }()
			if c := x.Checkout(t.Context(), "", ""); c.Branch != branch || c.Head != oid {
				t.Errorf("branch %q at %q, want %q at %q", c.Branch, c.Head, branch, oid)
			}
		}
		r.Git("checkout", "-q", "-b", "topic/one")
		expect("topic/one", head)
		r.Git("checkout", "-q", "--detach")
		expect("", head)
		r.Git("checkout", "-q", "--orphan", "new")
		expect("new", "")
	})
}
