// What a run cost according to its rows, and what is left to spend.

package run

import (
	"fmt"
	"math"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// MaxSpentUSD bounds the sum of costs: an absurd cost must not make the state unwritable, which would prevent the
// refusal of the turn.
const MaxSpentUSD = 1e15

// Sane limits a cost in US dollars to the range from 0 to MaxSpentUSD; NaN becomes 0.
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

// SpentText says what was spent. Nothing means that no turn reported a cost, not that the work was free.
func SpentText(usd float64) string {
	if usd == 0 {
		return "no cost reported"
	}
	return fmt.Sprintf("$%.2f spent", usd)
}

// LeftText says what is left of a budget, to the cent; when it was overspent, by how much.
func LeftText(usd float64) string {
	cents := math.Round(usd * 100)
	if cents < 0 {
		return fmt.Sprintf("$%.2f over", -cents/100)
	}
	return fmt.Sprintf("$%.2f left", math.Abs(cents)/100)
}
