// What the bundle of a turn that has ended contained: the operation that ended the turn dropped it.

package chain

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// EndedBundles returns a file of the bundles of turns that ended since a time, by turn; a turn whose bundle lacks it,
// or was not recorded, is not in it. It walks back from tip no further than it has to, or than a shallow history goes.
func EndedBundles(ctx context.Context, repo *git.Repository, tip object.OID, since time.Time, turns []string,
	file string) (map[string][]byte, error) {
	found, left := make(map[string][]byte), slices.Clone(turns)
	if tip == "" || len(left) == 0 {
		return found, nil
	}
	w := newWalker(ctx, repo)
	for op, err := range w.back(tip) {
		if err != nil {
			return found, err
		}
		if len(op.Parents) == 0 || op.Time.Before(since.Truncate(time.Second)) {
			break
		}
		for _, turn := range op.Dropped {
			if !slices.Contains(left, turn) {
				continue
			}
			left = slices.DeleteFunc(left, func(t string) bool { return t == turn })
			before, err := w.r.Commit(op.Parents[0])
			if err != nil {
				return found, err
			}
			data, ok, err := w.r.File(before.Tree, path.Join(record.DirBundles, turn, file))
			if err != nil {
				return found, err
			}
			if ok {
				found[turn] = data
			}
		}
		if len(left) == 0 {
			break
		}
	}
	return found, nil
}
