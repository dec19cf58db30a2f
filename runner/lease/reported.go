// The outcome of a report under a lease that has ended (docs/leases.md#the-calls).

package lease

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Reported is how a lease ended.
type Reported string

// Outcomes of a report.
const (
	ReportAccepted  Reported = "accepted"   // the result is in the run
	ReportRefused   Reported = "refused"    // the result was refused and the turn sent back
	ReportGivenBack Reported = "given_back" // the holder gave the turn back without a result
)

// EndOf returns what the record of the run runID says about the end of a lease: "" when it did not end by a
// report of this holder. Only the turn's last token answers for an acceptance.
func EndOf(ctx context.Context, s *gitstore.Store, runID string, h Holder) (Reported, error) {
	if runID == "" || h.Ref.RunID != runID || h.Ref.StepID == "" {
		return "", nil
	}
	rows, err := s.TailRows(ctx, wire.LedgerEvents, 1, func(row *ojson.Object) bool {
		p := row.Object("payload")
		l := p.Object("lease")
		switch p.String("action") {
		case leases.ActRefused, leases.ActCancelAsked:
			return false // it does not end a lease
		}
		return row.String("event_type") == run.EventLease && l.String("step_id") == h.Ref.StepID &&
			l.Object("fencing_token").String("token") == h.Ref.FencingToken
	})
	if err != nil || len(rows) == 0 {
		return "", err
	}
	p := rows[0].Row.Object("payload")
	l := p.Object("lease")
	if l.String("lease_id") != h.Ref.LeaseID || l.String("runner_id") != h.RunnerID ||
		l.String("session_id") != h.SessionID {
		return "", nil
	}
	switch {
	case p.String("action") == leases.ActRejected:
		return ReportRefused, nil
	case p.String("action") != leases.ActReleased:
		return "", nil
	case p.Has("reason"):
		return ReportGivenBack, nil
	}
	return ReportAccepted, nil
}
