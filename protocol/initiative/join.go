// Joining what people said to one gate on two machines.

package initiative

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Joined is what votes of another machine come to.
type Joined struct {
	Change *Change     // nothing where none was added
	Votes  []*run.Vote // those added
	Over   int         // rows that answer what waits no more: it was decided on, or requested again
}

// Join adds the votes of rows that another machine recorded to the gate that waits after h, in state s: those that count
// there beside the others. One of a person who has agreed already adds nothing. It is nil where one of them may or may
// not count, because it is about other operations, or was judged by what is not here.
func (h *History) Join(s *State, rows []*ojson.Object, superRun string, grounds Ground) *Joined {
	_, votes, at, asked := h.passages(superRun, grounds)
	out := &Joined{Change: &Change{}}
	if s.PendingGate == nil {
		out.Over = len(rows)
		return out
	}
	for _, row := range rows {
		y, phase := yesOf(row)
		if y == nil {
			return nil
		}
		y.Votes = votes
		sum, refusal := y.again(superRun, row, s.PendingGate.GateType, at, phase, s.PendingGate.To, &asked, grounds)
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
	return out
}

// Repeatable judges rows that one machine recorded on top of what others have: ok where any clone records them again by
// itself, or people do no more in them than agree to the gate that waited before. votes are the rows of those, asked
// counts requests of a gate. A yes to a gate that was requested in these rows is not ok: it answers that request alone.
func Repeatable(rows []*ojson.Object) (votes []*ojson.Object, asked int, ok bool) {
	for _, row := range rows {
		switch row.String("type") {
		case rowVote:
			votes = append(votes, row)
		case rowPhaseAsked, rowFinishAsked:
			asked++
		case rowProjection, RowResynced:
		default:
			return nil, 0, false
		}
	}
	return votes, asked, len(votes) == 0 || asked == 0
}
