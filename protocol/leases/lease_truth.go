// What the run says of a lease whose ref differs (docs/leases.md#what-is-promised).

package leases

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Tells reports whether a row of the event ledger gives the state of a turn's lease: who has it, or how it ended.
func Tells(row *ojson.Object, turn string) bool {
	if row.String("event_type") != run.EventLease {
		return false
	}
	p := row.Object("payload")
	switch p.String("action") {
	case ActIssued, ActRestored, ActRenewed, ActExpired, ActCancelled, ActReleased,
		ActRejected, ActCancelAcked:
		return p.Object("lease").String("step_id") == turn
	}
	return false
}

// SetBack returns the lease of a turn from the last row of the run about it, where the ref is older: it shows a
// lease as open that has ended or has since been given to another runner. nil when the ref agrees with the run or
// is newer.
func SetBack(l *run.Lease, last *ojson.Object) *run.Lease {
	if l == nil || last == nil || !l.Open() {
		return nil
	}
	told, err := run.DecodeLease(ojson.Compact(last.Object("payload").Object("lease")))
	switch {
	case err != nil:
	case told.FencingToken.Token == l.FencingToken.Token && !told.Open(),
		told.FencingToken.IssuedAtMS > l.FencingToken.IssuedAtMS:
		return told
	}
	return nil
}
