// Which commits were made in this clone, according to its reflogs.

package history

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// maxReflog is how many movements of HEAD and the branches are read.
const maxReflog = 20000

// CommitsMadeHere returns the commits that HEAD or a branch reached other than by moving to an existing commit: by
// commit, merge, rebase, cherry-pick, and anything not known to move only. known is false when the reflog of HEAD
// does not lead to the commit that is checked out: then it proves nothing.
func CommitsMadeHere(ctx context.Context, r *git.Repository, head object.OID) (made map[object.OID]bool, known bool,
	err error) {
	heads, err := r.Git.Run(ctx, nil, "log", "-g", "-n", "1", "--format=%H", "HEAD", "--")
	if err != nil || object.OID(strings.TrimSpace(string(heads))) != head {
		if git.ExitCode(err) >= 0 {
			err = nil // no reflog
		}
		return nil, false, err
	}
	out, err := r.Git.Run(ctx, nil, "log", "-g", "-n", strconv.Itoa(maxReflog+1), "-z", "--format=tformat:%H %gs",
		"--branches", "HEAD", "--")
	if err != nil {
		return nil, false, err
	}
	made = make(map[object.OID]bool)
	n := 0
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		id, how, _ := strings.Cut(strings.Trim(string(entry), "\n"), " ")
		if id == "" {
			continue
		}
		n++
		if !takenOver(how) {
			made[object.OID(id)] = true
		}
	}
	return made, n <= maxReflog, nil
}

// takenOver reports whether a movement of a ref went to an existing commit.
func takenOver(how string) bool {
	what, rest, _ := strings.Cut(how, ":")
	verb, _, _ := strings.Cut(what, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "clone", "checkout", "branch", "Branch", "reset", "fetch":
		return true
	case "pull", "merge":
		if rest == "Fast-forward" {
			return true
		}
	}
	return slices.ContainsFunc([]string{"(start)", "(finish)", "(abort)"}, func(step string) bool {
		return strings.HasSuffix(what, step)
	})
}
