// Index summarises the parts of a run's ledgers that the rules need. Every operation updates it, so that none has
// to read a ledger.

package run

import (
	"iter"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Index summarises the ledgers of the current run. It is derived data: BuildIndex rebuilds it to the same bytes,
// and replay proves that it was kept right. No member but the last is ever left out: their order must not depend on
// when one was first set.
type Index struct {
	Run           string              `json:"run"`
	Accepted      int                 `json:"accepted"`       // accepted turns, reissued rows excluded
	PhaseAccepted ojson.Map[int]      `json:"phase_accepted"` // phase -> number of accepted turns
	Participants  ojson.Map[[]string] `json:"participants"`   // phase -> roles with an accepted turn
	StreakRole    string              `json:"streak_role"`    // role of the most recent accepted turns
	Streak        int                 `json:"streak"`
	// a completed implementation turn changed a product file
	ProductTurn     bool     `json:"product_turn"`
	FirstAcceptedAt string   `json:"first_accepted_at"`
	RolesUsed       []string `json:"roles_used"`
	PhasesDone      []string `json:"phases_done"`
	Decisions       int      `json:"decisions"`
	DecisionIDs     []any    `json:"decision_ids"` // DecisionIDs.Encode
	// path -> last accepted turn that changed it
	Uncheckpointed ojson.Map[string] `json:"uncheckpointed"`
	LastRow        *ojson.Object     `json:"last_row"` // newest accepted row
	// accepted rows newer than the oldest active turn's assignment
	Recent []*ojson.Object `json:"recent"`
	// row whose phase request is queued or waits for approval
	QueuedRow *ojson.Object `json:"queued_row"`
	// row whose completion request is queued or waits for approval
	QueuedDone *ojson.Object `json:"queued_completion_row"`
	// child turn -> row, until the review is built
	DelegationRows  ojson.Map[*ojson.Object] `json:"delegation_rows"`
	RecentDecisions []*ojson.Object          `json:"recent_decisions"` // last 5: id, statement, decided_by, phase
	RecentTurns     []*ojson.Object          `json:"recent_turns"`     // last 3: turn_id, role, summary, phase
	OpenEscalations []*ojson.Object          `json:"open_escalations"` // raised rows without a resolution
	// turn_id, id, severity of this run's open objections
	OpenObjections []*ojson.Object `json:"open_objections"`
	// of the accepted rows; state.budget_status also counts refused attempts
	CostUSD     float64 `json:"cost_usd"`
	LastEventAt string  `json:"last_event_at"` // newest event of the run
	// absent until the first message, and the last member: the index of runs older than messages is unchanged
	Mailbox *Mailbox `json:"mailbox,omitempty"`
	Extra   ojson.Extra
}

// Encode returns the index as a document.
func (x *Index) Encode() []byte { return ojson.Pretty(ojson.Marshal(x)) }

// DecodeIndex reads what Encode wrote.
func DecodeIndex(data []byte) (*Index, error) {
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, err
	}
	x := &Index{}
	if errs := ojson.Unmarshal(o, x); len(errs) > 0 {
		return nil, errs[0]
	}
	return x, nil
}

// LedgerReader yields the rows of a ledger in order for BuildIndex; it skips unparseable lines.
type LedgerReader func(l wire.Ledger) iter.Seq[Line]

// Line is one ledger row with the exact bytes it was read from (no newline).
type Line struct {
	Raw []byte
	Row *ojson.Object
}
