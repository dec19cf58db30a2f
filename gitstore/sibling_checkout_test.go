package gitstore

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// TestSiblingCheckoutCountsAsGit holds the distances between commits against git's own count,
// with merges and with commits of one date.
func TestSiblingCheckoutCountsAsGit(t *testing.T) {
	p := newTrap(t)
	run := func(args ...string) string {
		out, err := gitCommand(p.Dir, append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
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
	x, _, err := sibling(t, p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range tips {
		for _, b := range tips {
			want := run("rev-list", "--left-right", "--count", a+"..."+b)
			ahead, behind := x.apart(context.Background(), git.OID(a), git.OID(b), false)
			if got := fmt.Sprintf("%d\t%d", ahead, behind); got != want {
				t.Errorf("%.7s...%.7s: %s, git says %s", a, b, got, want)
			}
		}
	}
}
