// Whether a branch was rebased: what it held is there again, on another commit.

package history

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

const (
	maxRebased  = 500   // commits that are looked for
	maxMessages = 20000 // among as many
)

// Rebased reports whether each commit that tip was goes back to and tip is does not has one
// of the same change and the same message that is goes back to and was does not. It is
// false when a merge is among them: what a merge changed cannot be found again.
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
	// Lines of commits that are not there again begin with a plus sign.
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

// messages counts the messages of a range, by their text.
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
