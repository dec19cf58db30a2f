// What the rows of a run say it cost.

package run

import (
	"math"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// MaxSpentUSD bounds the sum of costs: an absurd claim must not make a state
// that cannot be written, and so keep a turn from being refused.
const MaxSpentUSD = 1e15

// Sane keeps a cost in US dollars between nothing and MaxSpentUSD; NaN is nothing.
func Sane(usd float64) float64 {
	if math.IsNaN(usd) {
		return 0
	}
	return min(max(0, usd), MaxSpentUSD)
}

// RowCost reads a cost object: usd, else total_usd, never negative.
func RowCost(cost *ojson.Object) float64 {
	usd, ok := cost.Float("usd")
	if !ok {
		usd, _ = cost.Float("total_usd")
	}
	return Sane(usd)
}
