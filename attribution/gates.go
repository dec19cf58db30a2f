// The gates that were passed after a turn, and who passed them.

package attribution

import (
	"bytes"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Gate is a gate of the turn's run that was passed once the turn was accepted.
type Gate struct {
	ID       string
	From, To string // phases; To is "" when the run was completed
	At       time.Time
	Name     string // of the person who approved, "" when no person was asked
	Email    string
	Rule     bool // a policy approved
}

// Gates returns the gates passed after an accepted turn, in order.
func Gates(t *Turn) ([]Gate, error) {
	if t.Active() {
		return nil, nil
	}
	since, err := wire.ParseTime(t.Row.String("accepted_at"))
	if err != nil {
		return nil, nil
	}
	var gates []Gate
	err = eachRow(t.Record, wire.LedgerEvents, func(row *ojson.Object) {
		at, err := wire.ParseTime(row.String("timestamp"))
		if err != nil || at.Before(since) || row.String("run_id") != t.Run {
			return
		}
		p := row.Object("payload")
		g := Gate{ID: p.String("gate_id"), At: at}
		switch kind := row.String("event_type"); {
		case g.ID == "":
			return
		case kind == run.EventPhaseEntered:
			g.From, g.To = p.String("from"), p.String("to")
		case kind == run.EventGateApproved && p.String("gate_type") != "phase_transition":
			g.From = row.String("phase")
		default:
			return
		}
		gates = append(gates, g)
	})
	if err != nil || len(gates) == 0 {
		return gates, err
	}
	err = eachRow(t.Record, wire.LedgerDecisions, func(row *ojson.Object) {
		kind := row.String("type")
		if kind != "human_approval" && kind != "approval_policy" {
			return
		}
		at, err := wire.ParseTime(row.String("timestamp"))
		for i := range gates {
			if g := &gates[i]; err == nil && g.At.Equal(at) && g.ID == row.String("gate_id") {
				who := row.Object("approved_by")
				g.Name, g.Email, g.Rule = who.String("name"), who.String("email"), kind == "approval_policy"
			}
		}
	})
	return gates, err
}

// eachRow calls f with the rows of a recorded ledger, oldest first.
func eachRow(r *chain.RunRecord, l wire.Ledger, f func(*ojson.Object)) error {
	data, err := r.Ledger(l)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		if row, err := ojson.DecodeObject(bytes.TrimSuffix(line, []byte{'\n'})); err == nil {
			f(row)
		}
	}
	return nil
}
