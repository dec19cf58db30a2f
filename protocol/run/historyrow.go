// Rows of history.jsonl: building, reading and finding them (docs/spec/state.md#history,
// docs/spec/lifecycle.md#accepting-a-turn).

package run

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// HistoryReissued is the status of the row of a given-up turn. Such rows are not accepted turns: every reader skips
// them (docs/compatibility.md#where-we-differ-on-purpose row 12).
const HistoryReissued = "reissued"

// MaxLedgerLine bounds one ledger row in bytes; a staged result is smaller.
const MaxLedgerLine = 8 << 20

// DecodeLedgerLine reads one line of a JSONL ledger, without its newline:
// strict UTF-8, one object, no duplicate members, bounded size and depth.
func DecodeLedgerLine(line []byte) (*ojson.Object, error) {
	if slices.Contains(line, '\n') {
		return nil, fmt.Errorf("a ledger row spans several lines")
	}
	v, err := ojson.DecodeLimited(line, ojson.Limits{Bytes: MaxLedgerLine, Depth: maxStateDepth})
	if err != nil {
		return nil, err
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, fmt.Errorf("a ledger row must be a JSON object, not %s", ojson.TypeName(v))
	}
	return o, nil
}

// SaysAccepted reports whether a row says that its turn was accepted, in whatever run. The row of a reissued turn
// also has a time of acceptance, but does not count.
func SaysAccepted(row *ojson.Object) bool {
	switch row.String("status") {
	case HistoryReissued:
		return false
	case "accepted":
		return true
	}
	return row.String("accepted_at") != ""
}

// AcceptedRow reports whether a row is an accepted turn of the run: not a reissued one, and either of this run or
// without a run (rows of the first versions name no run).
func AcceptedRow(row *ojson.Object, runID string) bool {
	if row.String("turn_id") == "" || row.String("status") == HistoryReissued {
		return false
	}
	id := row.String("run_id")
	return id == "" || runID == "" || id == runID
}
