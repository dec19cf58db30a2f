// What the run says of a lease whose ref says something else (docs/leases.md#what-is-promised).

package leases

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Tells reports whether a row of the event ledger tells where the lease of a turn
// stands: who has it, or how it ended.
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

// SetBack is the lease of a turn as the last row of the run has it that tells of it,
// where the ref is behind: it calls a lease open that has ended, or that somebody else
// has been given since. nil when the ref is where the run is, or before it.
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
