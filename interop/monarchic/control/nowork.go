// Why a runner that asks for work gets none (docs/leases.md#why-there-is-no-work).

package control

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Codes of answers without a turn. Refusals of the run keep the codes that they have everywhere
// (dirty_tree, budget_exhausted, charters_wait, …).
const (
	CodeNoSlots       = "no_slots"
	CodeLeasesHeld    = "leases_held"
	CodeRoleNotServed = "role_not_served"
	CodeNothingReady  = "nothing_ready"
	CodeRunOver       = "run_over"
)

func noWork(code, message, hint string) *wire.Error {
	return &wire.Error{Code: code, Field: "assignment", Message: message, Hint: hint}
}

// notActive returns why a run that is not active offers no work.
func notActive(st *runner.State) *wire.Error {
	switch {
	case run.HasPending(st):
		return noWork(run.RejectDependency, "The run waits for an approval.", "git agentxchain approve")
	case st.Status.Ended():
		return noWork(CodeRunOver, "Run "+st.Run()+" is "+string(st.Status)+".", "git agentxchain assign --new-run")
	}
	return noWork(run.RejectNotExecutable, oneLine(stopReason(st), 1000), "git agentxchain status")
}

// noRoom returns why a phase takes no further turn besides the active ones.
func noRoom(v *runner.View) *wire.Error {
	st := v.State
	n, limit := st.ActiveTurns.Len(), runner.MaxConcurrentTurns(v.Config, st.Phase)
	if n >= limit {
		return noWork(wire.CodeAtCapacity, fmt.Sprintf("%s active (%s), and phase %q allows %d.",
			text.Count(n, "turn is", "turns are"), wire.ListSome(st.ActiveTurns.Keys(), 4), st.Phase, limit), "wait for their outcomes")
	}
	return noWork(wire.CodeDelegationOpen, "The review of delegated work runs alone.", "wait for its outcome")
}

// nobodyNext returns why no role gets a turn.
func nobodyNext(v *runner.View) *wire.Error {
	st := v.State
	switch {
	case st.ActiveTurns.Len() == 0:
		return noWork(CodeNothingReady, "No role of phase "+st.Phase+" is due for a turn.", "git agentxchain status")
	case len(st.OpenCharters()) > 0:
		why := "Every charter that is ready is at work (" + wire.ListSome(st.ActiveTurns.Keys(), 4) + ")"
		if n := len(st.OpenCharters()) - st.ActiveTurns.Len(); n > 0 {
			why += "; " + text.Count(n, "more waits", "more wait") + " for them"
		}
		return noWork(wire.CodeChartersWait, why+".", "wait for their outcomes")
	}
	return noWork(wire.CodeRoleActive, fmt.Sprintf("Every role that could have a turn has one (%s).",
		wire.ListSome(st.ActiveTurns.Keys(), 4)), "wait for their outcomes")
}
