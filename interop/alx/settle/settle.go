// Settlement: the cost of a run, in integer micro-USD, attributed to turns, roles and runtimes
// (docs/alx.md#settlement).

package settle

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Run settles a run from the rows of its history, oldest first.
//
// A row costs cost.usd, else cost.total_usd, else nothing. spent is what the run's budget says was
// spent in all (state budget_status.spent_usd), null when there is no budget. The excess over the
// rows is the cost of refused attempts; the accepted turns share it in proportion to their own
// costs, in equal parts when those are zero. Without a turn to bear it there is only a total.
//
// A value that is not an amount counts as zero and is named in notes, one sentence each.
func Run(rows []*ojson.Object, spent ojson.Value) (s *alx.Settlement, notes []string) {
	costs := make([]amount, len(rows))
	decimals := 6
	read := func(what string, v ojson.Value) amount {
		a, ok := readAmount(v)
		if !ok {
			notes = append(notes,
				fmt.Sprintf("%s is not an amount in US dollars (%s); it counts as nothing.", what, ojson.Shown(v)))
			a = amount{digits: new(big.Int)}
		}
		decimals = max(decimals, a.decimals)
		return a
	}
	for i, row := range rows {
		name, v := costOf(row)
		costs[i] = amount{digits: new(big.Int)}
		if v != nil {
			costs[i] = read(fmt.Sprintf("%s of turn %s", name, ojson.Shown(row.String("turn_id"))), v)
		}
	}
	whole := amount{digits: new(big.Int)}
	if spent != nil {
		whole = read("budget_status.spent_usd", spent)
	}

	weights := make([]Weight, len(rows))
	sum := new(big.Int)
	for i, row := range rows {
		units := costs[i].at(decimals)
		sum.Add(sum, units)
		weights[i] = Weight{ID: row.String("turn_id"), Units: units}
	}
	if w := whole.at(decimals); w.Cmp(sum) > 0 {
		sum = w
	}
	total := micros(sum, decimals)
	if !total.IsInt64() {
		notes = append(notes, "The costs add up to more than can be settled; the total is the largest there is.")
		total.SetInt64(math.MaxInt64)
	}
	turns := split(total.Int64(), weights)
	return &alx.Settlement{
		TotalMicroUSD: total.Int64(),
		Turns:         turns,
		Roles:         gather(turns, rows, "role"),
		Runtimes:      gather(turns, rows, "runtime_id"),
	}, notes
}

// costOf finds a row's cost, nil when it has none.
func costOf(row *ojson.Object) (name string, v ojson.Value) {
	cost := row.Object("cost")
	for _, name := range []string{"usd", "total_usd"} {
		if v, _ := cost.Get(name); v != nil {
			return "cost." + name, v
		}
	}
	return "", nil
}

// Weight is one claim on a whole, in units of the caller's choice.
type Weight struct {
	ID    string
	Units *big.Int // at least 0
}

// split divides total (at least 0) in proportion to the weights, in their order. Every part is the
// exact proportion rounded down, and the rest goes, one each, to the largest remainders, ties to
// the smaller id, then to the earlier one. Weights that are all zero count the same. The parts add
// up to total unless there are none.
func split(total int64, weights []Weight) []alx.Share {
	if len(weights) == 0 {
		return nil
	}
	sum := new(big.Int)
	for _, w := range weights {
		sum.Add(sum, w.Units)
	}
	units := func(i int) *big.Int { return weights[i].Units }
	if sum.Sign() == 0 {
		sum.SetInt64(int64(len(weights)))
		one := big.NewInt(1)
		units = func(int) *big.Int { return one }
	}
	shares := make([]alx.Share, len(weights))
	rest := make([]*big.Int, len(weights))
	order := make([]int, len(weights))
	left := total
	for i, w := range weights {
		part := new(big.Int).Mul(big.NewInt(total), units(i))
		part, rest[i] = part.QuoRem(part, sum, new(big.Int))
		shares[i] = alx.Share{ID: w.ID, MicroUSD: part.Int64()}
		left -= shares[i].MicroUSD
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if c := rest[b].Cmp(rest[a]); c != 0 {
			return c
		}
		return cmp.Compare(weights[a].ID, weights[b].ID)
	})
	for _, i := range order[:left] {
		shares[i].MicroUSD++
	}
	return shares
}

// gather adds up the shares of turns by a member of their rows.
func gather(turns []alx.Share, rows []*ojson.Object, member string) []alx.Share {
	sums := map[string]int64{}
	for i, t := range turns {
		sums[rows[i].String(member)] += t.MicroUSD
	}
	out := make([]alx.Share, 0, len(sums))
	for id, n := range sums {
		out = append(out, alx.Share{ID: id, MicroUSD: n})
	}
	slices.SortFunc(out, func(a, b alx.Share) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
