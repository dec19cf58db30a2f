// Operations that one side has and another has not.

package chain

import (
	"bytes"
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Range are the operations of a run after one, up to another; all when after is "".
type Range struct {
	Run       string
	After, To object.OID
}

// Since reads the operations after one, up to another, oldest first.
func Since(ctx context.Context, repo *git.Repository, after, to object.OID) ([]OpInfo, error) {
	ops, err := Ranges(ctx, repo, []Range{{After: after, To: to}})
	return ops[""], err
}

// Ranges reads the operations of ranges, oldest first, by run. One git reads those of all
// runs: a repository may have thousands.
func Ranges(ctx context.Context, repo *git.Repository, runs []Range) (map[string][]OpInfo, error) {
	out := make(map[string][]OpInfo, len(runs))
	if len(runs) == 0 {
		return out, nil
	}
	var which bytes.Buffer
	for _, r := range runs {
		which.WriteString(string(r.To) + "\n")
		if r.After != "" {
			which.WriteString("^" + string(r.After) + "\n")
		}
	}
	ops, err := readOps(ctx, repo, which.Bytes(), "--first-parent", "--stdin")
	if err != nil {
		return nil, err
	}
	byID := make(map[object.OID]*OpInfo, len(ops))
	for i := range ops {
		byID[ops[i].Op] = &ops[i]
	}
	for _, r := range runs {
		var chain []OpInfo
		for op := byID[r.To]; op != nil && op.Op != r.After; {
			chain = append(chain, *op)
			if len(op.Parents) == 0 {
				break
			}
			op = byID[op.Parents[0]]
		}
		slices.Reverse(chain)
		out[r.Run] = chain
	}
	return out, nil
}
