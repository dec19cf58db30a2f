// Fsck of operations of other rule sets: which were not replayed, and why.

package proof

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// otherRules is one reason why operations of a run were not replayed.
type otherRules struct {
	run   string
	rules int
	why   string
}

// otherOps are the operations with that reason.
type otherOps struct {
	any   object.OID
	count int
}

// compareOnly notes an operation that is checked but not replayed.
func (f *checker) compareOnly(op chain.OpInfo, rules int, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.others == nil {
		f.others = make(map[otherRules]otherOps)
	}
	key := otherRules{op.Run, rules, why}
	f.others[key] = otherOps{op.Op, f.others[key].count + 1}
}

// comparedOnly reports those operations, one row for each reason.
func (f *checker) comparedOnly() {
	order := func(a, b otherRules) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.rules, b.rules), cmp.Compare(a.why, b.why))
	}
	for _, key := range slices.SortedFunc(maps.Keys(f.others), order) {
		ops := f.others[key]
		row := Finding{Code: FindRules, Run: key.run, Note: true}
		if ops.count == 1 {
			row.Op, row.Message = ops.any,
				fmt.Sprintf("recorded under rule set %d and not replayed: %s", key.rules, key.why)
		} else {
			row.Message = fmt.Sprintf("%d operations of run %s were recorded under rule set %d and not replayed: %s",
				ops.count, key.run, key.rules, key.why)
		}
		f.find(row)
	}
}
