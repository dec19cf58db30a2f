// Joining what people said about one gate on two machines.

package initiative

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Said is what people said on one machine about the gate that waited.
type Said struct {
	Yes      []*ojson.Object // rows of the history
	No       *ojson.Object   // the row of a denial after them, nil for none
	Decision *ojson.Object   // the decision of that denial
	Gate     *PendingGate    // the gate as it waited before
}

// SaidIn checks the rows that one machine recorded on top of the shared ones, after which a gate waited. ok means
// that any clone can record the rows again by itself, or that people only answered that gate in them. An approval
// of a gate that these rows request is not ok: it answers that request alone. decisions are the machine's; state is
// what its rows made of before.
func SaidIn(history, decisions []*ojson.Object, before, state *State) (said *Said, ok bool) {
	said = &Said{Gate: before.PendingGate}
	asked := 0
	for _, row := range history {
		switch row.String("type") {
		case rowVote:
			if asked > 0 || said.No != nil {
				return nil, false
			}
			said.Yes = append(said.Yes, row)
		case rowDenied:
			if asked > 0 || said.No != nil || len(decisions) == 0 {
				return nil, false
			}
			said.No, said.Decision = row, decisions[0]
		case rowPhaseAsked, rowFinishAsked:
			asked++
		case rowProjection, RowResynced:
		default:
			return nil, false
		}
	}
	decided := asked
	if said.No != nil {
		decided++
	}
	goesOn := func(s *State) bool { return s.Status == StatusActive || s.Status == StatusPaused }
	return said, len(decisions) == decided && (before.Status == state.Status || goesOn(before) && goesOn(state))
}

// Joined is the effect here of what people said on another machine.
type Joined struct {
	Change *Change     // empty where nothing was added
	Votes  []*run.Vote // the added votes
	Denied bool
	Over   int // rows that answer a gate that no longer waits: it was decided, or requested again
}

// Join adds what people said on another machine to the gate that waits in w: each approval that counts there, and a
// denial. An approval by a person who has already agreed adds nothing. Join returns nil where it cannot tell
// whether an approval counts, because it is about other operations or was judged by what is not here; and where a
// person there denied a gate that was passed here.
func (w *Workspace) Join(said *Said, grounds Ground) *Joined {
	s := w.State
	_, votes, at, asked := w.History.passages(s.SuperRunID, grounds)
	out := &Joined{Change: &Change{}}
	yeses := said.Yes
	if s.PendingGate == nil {
		out.Over, yeses = len(yeses), nil
	}
	for _, row := range yeses {
		y, phase := yesOf(row)
		if y == nil {
			return nil
		}
		y.Votes = votes
		sum, refusal := y.again(s.SuperRunID, row, s.PendingGate.GateType, at, phase, s.PendingGate.To, &asked, grounds)
		switch {
		case refusal != nil && refusal.Code == agreement.CodeAlreadyApproved:
			continue
		case refusal != nil && refusal.Code == agreement.CodeStatementReplayed:
			out.Over++
			continue
		case refusal != nil || len(sum.Dropped) > 0:
			return nil
		}
		row = ojson.CloneValue(row).(*ojson.Object)
		row.Object("approval").Set("votes", run.VoteRows(sum.Votes))
		out.Change.History = append(out.Change.History, row)
		out.Votes, votes = append(out.Votes, sum.Votes[len(votes):]...), sum.Votes
	}
	if len(out.Votes) > 0 {
		out.Change.State = s.Clone()
		out.Change.State.PendingGate.Votes = votes
	}
	if said.No != nil && !w.deniedThere(said, out) {
		return nil
	}
	return out
}

// deniedThere adds a denial from another machine to out. It reports whether that settles the gate.
func (w *Workspace) deniedThere(said *Said, out *Joined) bool {
	if said.Gate == nil {
		return false
	}
	if s := w.State; s.PendingGate != nil && s.PendingGate.Gate == said.Gate.Gate &&
		s.PendingGate.RequestedAt == said.Gate.RequestedAt {
		if s.Status != StatusPaused {
			return false
		}
		decision := ojson.CloneValue(said.Decision).(*ojson.Object)
		decision.Set("id", fmt.Sprintf("%s%03d", decisionPrefix, w.NextDecision))
		out.Change.State, out.Denied = s.Clone(), true
		out.Change.State.PendingGate, out.Change.State.Status = nil, StatusActive
		out.Change.History = append(out.Change.History, said.No)
		out.Change.Decisions = append(out.Change.Decisions, decision)
		return true
	}
	// What happened to that request here?
	waited := false
	for _, row := range w.History.Rows() {
		switch row.String("type") {
		case rowPhaseAsked, rowFinishAsked:
			waited = waited || row.String("gate") == said.Gate.Gate && row.String("timestamp") == said.Gate.RequestedAt
		case rowDenied, rowAbandoned:
			if waited {
				out.Over++
				return true
			}
		case rowPhaseApproved, rowFinishApproved:
			if waited {
				return false
			}
		}
	}
	return false
}
