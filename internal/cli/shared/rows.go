// Lists: how many rows, what an empty one says, when something was.

package shared

import (
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// DefaultRows is how many rows a listing shows unless asked for more.
const DefaultRows = 30

// Nothing says that a listing is empty, and whether that is the listing or the filter.
func Nothing(filtered bool, all, some string) string {
	if filtered {
		return some
	}
	return all
}

// OneMore is what to ask for to know whether there are more than limit; 0 asks for all.
func OneMore(limit int) int {
	if limit > 0 {
		return limit + 1
	}
	return limit
}

// UpTo is what to show of a list that was asked for with OneMore, and whether there is more.
func UpTo[T any](limit int, list []T) (shown []T, more bool) {
	if limit > 0 && len(list) > limit {
		return list[:limit], true
	}
	return list, false
}

// Ago is how long ago a stamp is, the stamp itself when it is none.
func Ago(p *term.Printer, stamp string) string {
	at, err := wire.ParseTime(stamp)
	if err != nil {
		return stamp
	}
	return p.Ago(at)
}

// ShortOp is an operation as lists show it.
func ShortOp(op string) string { return op[:min(len(op), 10)] }
