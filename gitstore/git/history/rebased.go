// Whether a branch was rebased: its commits are there again, on another base.

package history

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

const (
	maxRebased  = 500   // commits to look for
	maxMessages = 20000 // messages to look in
)

// Rebased reports whether every commit of was that is lacks has a counterpart with the same change and message
// among the commits of is that was lacks. It is false if one of them is a merge: a merge's change cannot be
// matched.
func Rebased(ctx context.Context, r *git.Repository, was, is object.OID) (bool, error) {
	old, err := messages(ctx, r, string(is)+".."+string(was))
	if err != nil || len(old) == 0 || len(old) > maxRebased {
		return false, err
	}
	merges, err := r.Git.Run(ctx, nil, "rev-list", "--min-parents=2", "-n", "1", string(is)+".."+string(was))
	if err != nil || len(merges) > 0 {
		return false, err
	}
	fresh, err := messages(ctx, r, string(was)+".."+string(is))
	if err != nil {
		return false, err
	}
	for text, n := range old {
		if fresh[text] < n {
			return false, nil
		}
	}
	// Commits without a counterpart begin with a plus sign.
	out, err := r.Git.Run(ctx, nil, "cherry", string(is), string(was))
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "- ") {
			return false, nil
		}
	}
	return true, nil
}

// messages counts the commit messages of a range, by text.
func messages(ctx context.Context, r *git.Repository, what string) (map[string]int, error) {
	out, err := r.Git.Run(ctx, nil, "log", "-z", "-n", strconv.Itoa(maxMessages), "--format=%B", what, "--")
	if err != nil {
		return nil, err
	}
	count := make(map[string]int)
	if len(out) == 0 {
		return count, nil
	}
	for text := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		count[text]++
	}
	return count, nil
}
