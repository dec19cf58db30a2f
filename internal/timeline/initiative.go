// The picture of an initiative: a lane for each repository.

package timeline

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Coordination returns the facts of a row of the initiative's history.jsonl (docs/coordinator.md#files-and-refs),
// none when the picture does not show it. phaseOf returns the phase of a workstream.
func Coordination(row *ojson.Object, phaseOf func(workstream string) string) []*Fact {
	f := &Fact{
		At:   when(row.String("timestamp")),
		Run:  short(row.String("super_run_id")),
		Gate: short(row.String("gate")),
		Turn: short(row.String("repo_turn_id")),
		Repo: short(row.String("repo_id")),
		Role: short(row.String("role")),
	}
	if stream := row.String("workstream_id"); stream != "" {
		f.Phase = short(phaseOf(stream))
	}
	switch row.String("type") {
	case "run_initialized":
		f.Kind, f.Phase = run.EventRunStarted, short(phaseOf(""))
	case "turn_dispatched":
		f.Kind, f.Status = run.EventTurnDispatched, string(wire.StatusActive)
	case "acceptance_projection":
		f.Kind = run.EventTurnAccepted
		past := *f
		past.Kind, past.Why, past.Status = kindHistory, short(row.String("summary")), "completed"
		return []*Fact{f, &past}
	case "state_resynced":
		var gone []*Fact
		for _, t := range row.Objects("acknowledged_turns") {
			gone = append(gone, &Fact{
				At:     f.At,
				Kind:   run.EventPhaseCleanup,
				Run:    f.Run,
				Others: names([]string{t.String("turn_id")}),
			})
		}
		return gone[:min(len(gone), maxOthers)]
	case "phase_transition_requested", "run_completion_requested":
		f.Kind, f.Phase = run.EventGatePending, short(row.String("from"))
	case "phase_transition_approved":
		f.Kind, f.From, f.To, f.Phase = run.EventPhaseEntered, short(row.String("from")), short(row.String("to")),
			short(row.String("to"))
		opened := *f
		opened.Kind, opened.Phase = run.EventGateApproved, f.From
		return []*Fact{&opened, f}
	case "gate_denied":
		f.Kind, f.Why = run.EventGateFailed, short(row.String("reason"))
	case "run_blocked":
		f.Kind, f.Why = run.EventRunBlocked, short(row.String("blocked_reason"))
	case "blocked_resolved":
		f.Kind = run.EventEscalationResolved
	case "run_completed":
		f.Kind = run.EventGateApproved
		over := *f
		over.Kind = run.EventRunCompleted
		return []*Fact{f, &over}
	default:
		return nil
	}
	return []*Fact{f}
}
