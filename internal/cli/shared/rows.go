// Lists: how many rows, the text for an empty one, the age of an entry.

package shared

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// DefaultRows is how many rows a listing shows unless asked for more.
const DefaultRows = 30

// LimitFlag returns --limit; 0 means all rows.
func LimitFlag(usage string) ucli.Flag {
	return &ucli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: usage, Value: DefaultRows}
}

// Nothing says that a listing is empty, and whether because of the filter.
func Nothing(filtered bool, all, some string) string {
	if filtered {
		return some
	}
	return all
}

// OneMore returns the limit to request in order to know whether there are more than limit rows; 0
// requests all.
func OneMore(limit int) int {
	if limit > 0 {
		return limit + 1
	}
	return limit
}

// UpTo returns the part to show of a list that was requested with OneMore, and whether there is
// more.
func UpTo[T any](limit int, list []T) (shown []T, more bool) {
	if limit > 0 && len(list) > limit {
		return list[:limit], true
	}
	return list, false
}

// Ago says how long ago a stamp is, and returns text that is not a stamp unchanged.
func Ago(p *term.Printer, stamp string) string {
	at, err := wire.ParseTime(stamp)
	if err != nil {
		return stamp
	}
	return p.Ago(at)
}

// ShortOp returns an operation as lists show it.
func ShortOp(op string) string { return op[:min(len(op), 10)] }
