// Operations that one side has and the other lacks.

package chain

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Range is a range of a run's operations, after one and up to another; all when after is "".
type Range struct {
	Run       string
	After, To object.OID
}

// Since reads the operations after one and up to another, oldest first.
func Since(ctx context.Context, repo *git.Repository, after, to object.OID) ([]OpInfo, error) {
	ops, err := Ranges(ctx, repo, []Range{{After: after, To: to}})
	return ops[""], err
}

// Ranges reads the operations of ranges, oldest first, by run.
func Ranges(ctx context.Context, repo *git.Repository, runs []Range) (map[string][]OpInfo, error) {
	out := make(map[string][]OpInfo, len(runs))
	if len(runs) == 0 {
		return out, nil
	}
	w := newWalker(ctx, repo)
	for _, r := range runs {
		var ops []OpInfo
		for op, err := range w.back(r.To) {
			if err != nil {
				return nil, err
			}
			if op.Op == r.After {
				break
			}
			ops = append(ops, op)
		}
		slices.Reverse(ops)
		out[r.Run] = ops
	}
	return out, nil
}
