// Which operation may move a run from which status to which, and what never changes within a run
// (docs/spec/state.md#the-state, docs/conformance.md#becoming-a-target).

package protocol

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpTransitionState is the bare status change of the conformance suite: it may pause a run at a gate and block it,
// nothing else.
const OpTransitionState = "transition_state"

// edge is a change of status; from is "" for a project without state.
type edge struct{ from, to wire.Status }

// legalEdges lists the status changes of an operation; an unlisted operation has none. Only their own operations
// complete or unpause a run, and only a person's abandoning leads to "failed".
func legalEdges(op string) []edge {
	const (
		idle, active, paused    = wire.StatusIdle, wire.StatusActive, wire.StatusPaused
		blocked, completed, bad = wire.StatusBlocked, wire.StatusCompleted, wire.StatusFailed
	)
	switch op {
	case "scaffold":
		return []edge{{"", idle}, {idle, idle}}
	case "init_run":
		// A finished or stuck run can only be replaced by a new run: see newRun.
		return []edge{{idle, active}, {blocked, active}, {completed, active}, {bad, active}}
	case "queue_charters":
		return []edge{{active, active}}
	case "assign_turn":
		return []edge{{active, active}, {active, blocked}, {paused, active}}
	case "accept_turn":
		return []edge{{active, active}, {active, paused}, {active, blocked}, {active, completed},
			{blocked, active}, {blocked, paused}, {blocked, blocked}, {blocked, completed}, {paused, paused}}
	case OpRetry:
		return []edge{{active, active}, {active, paused}, {active, completed}}
	case "reject_turn", "reissue_turn":
		return []edge{{active, active}, {active, blocked}, {blocked, blocked}, {blocked, active}, {paused, paused}}
	case "approve_transition":
		return []edge{{paused, active}, {paused, paused}, {paused, blocked}, {blocked, active}, {blocked, blocked}}
	case OpDeny:
		return []edge{{paused, active}, {blocked, active}}
	case "approve_completion":
		return []edge{{paused, completed}, {paused, paused}, {paused, blocked}, {blocked, completed},
			{blocked, blocked}}
	case "advance_turn":
		return []edge{{active, active}, {blocked, blocked}}
	case "watch_turns":
		return []edge{{active, blocked}, {blocked, blocked}}
	case "escalate":
		return []edge{{active, blocked}, {paused, blocked}}
	case "dispatch_timeout":
		return []edge{{active, blocked}}
	case "block":
		return []edge{{active, blocked}, {paused, blocked}, {blocked, blocked}}
	case "reactivate":
		return []edge{{blocked, active}, {paused, active}, {blocked, paused}}
	case "checkpoint_turn", OpProposal:
		return []edge{{active, active}, {paused, paused}, {blocked, blocked}, {completed, completed}, {idle, idle},
			{bad, bad}}
	case "record_audit", "record_lease", OpConfirm:
		// Evidence is recorded in every status of the run, and changes none.
		return []edge{{active, active}, {paused, paused}, {blocked, blocked}, {completed, completed}, {idle, idle},
			{bad, bad}}
	case "dispatch_turn", "refresh_baseline", "send_message", "ack_message", intents.OpInject, commits.OpReconcile, OpClaim,
		OpObjection:
		return []edge{{active, active}, {paused, paused}, {blocked, blocked}}
	case "config_adopt":
		return []edge{{active, active}, {paused, paused}, {blocked, blocked}, {blocked, active}}
	case OpAbandon:
		return []edge{{active, bad}, {paused, bad}, {blocked, bad}}
	case OpWithdraw:
		return []edge{{active, paused}, {completed, paused}, {paused, paused}}
	case OpTransitionState:
		return []edge{{active, paused}, {active, blocked}}
	}
	return nil
}

// LegalTransition checks the outcome of an operation against the table of legal status changes and the members that
// never change. before is nil for a project without state. It runs after every operation, whatever the operation's
// own rules said. Codes: invalid_state_transition, immutable_field.
//
// A record of another tool (OpExternal) may cover many operations, even another run, so only the project and the
// counter are checked.
func LegalTransition(before, after *run.State, op string) *wire.Error {
	from := wire.Status("")
	if before != nil {
		from = before.Status
	} else {
		before = &run.State{}
	}
	if err := immutable(before, after, op); err != nil {
		return err
	}
	if op == OpExternal {
		return nil
	}
	if !slices.Contains(legalEdges(op), edge{from, after.Status}) {
		why := fmt.Sprintf("a run that is %s cannot become %s", cmp.Or(string(from), "absent"),
			cmp.Or(string(after.Status), "absent"))
		if from == after.Status {
			why = fmt.Sprintf("a run that is %s takes none", cmp.Or(string(from), "absent"))
		}
		return illegal("status", op, why, from, after.Status)
	}
	if problem, field := condition(before, after, op); problem != "" {
		return illegal(field, op, problem, from, after.Status)
	}
	return nil
}

func illegal(field, op, what string, from, to wire.Status) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   field,
		Message: fmt.Sprintf("%s: %s.", op, what),
		Details: ojson.NewObject("operation", op, "from_status", ojson.OrNull(string(from)),
			"to_status", ojson.OrNull(string(to))),
	}
}

// newRun reports whether the operation replaced before's run with another.
func newRun(before, after *run.State, op string) bool {
	return (op == "init_run" || op == OpExternal) && before.Run() != after.Run()
}

// immutable checks what no operation changes: the project always; the run id, once set, and its creation time until
// a new run begins; and that the counter never falls within a run.
func immutable(before, after *run.State, op string) *wire.Error {
	changed := func(field, was, is string) *wire.Error {
		return &wire.Error{Code: wire.CodeImmutableField, Field: field,
			Message: fmt.Sprintf("%s: %s is %.80q and never changes; it would become %.80q.", op, field, was, is)}
	}
	if before.ProjectID != "" && before.ProjectID != after.ProjectID {
		return changed("project_id", before.ProjectID, after.ProjectID)
	}
	fresh := newRun(before, after, op)
	if !fresh && before.Run() != after.Run() && (before.Run() != "" || op != "init_run") {
		return changed("run_id", before.Run(), after.Run())
	}
	if fresh {
		return nil
	}
	if before.CreatedAt != nil && wire.OrEmpty(before.CreatedAt) != wire.OrEmpty(after.CreatedAt) {
		return changed("created_at", wire.OrEmpty(before.CreatedAt), wire.OrEmpty(after.CreatedAt))
	}
	if after.TurnSequence < before.TurnSequence {
		return changed("turn_sequence", fmt.Sprint(before.TurnSequence), fmt.Sprint(after.TurnSequence))
	}
	return nil
}

// condition checks what a status change needs besides being in the table; it returns the problem and the member at
// fault.
func condition(before, after *run.State, op string) (problem, field string) {
	if op == "init_run" && (after.Run() == "" || before.Run() == after.Run()) {
		return "a new run needs a run id of its own", "run_id"
	}
	if before.Phase != "" && before.Phase != after.Phase {
		switch op {
		case "accept_turn", "approve_transition", "init_run", "scaffold", OpWithdraw, OpRetry:
		default:
			return fmt.Sprintf("the phase cannot go from %q to %q", before.Phase, after.Phase), "phase"
		}
	}
	switch after.Status {
	case wire.StatusActive:
		if wire.OrEmpty(after.BlockedOn) != "" {
			return "an active run is blocked on nothing", "blocked_on"
		}
		if op == "reactivate" && run.HasPending(before) {
			return "a run that waits for approval is not reactivated", "status"
		}
		if op == "approve_transition" && before.PendingPhaseTransition == nil {
			return "no phase transition waits for approval", "pending_phase_transition"
		}
		if op == OpDeny && !run.HasPending(before) {
			return "no gate waits for a person", "pending_phase_transition"
		}
		if run.HasPending(after) {
			return "an active run waits for no approval", "status"
		}
	case wire.StatusPaused:
		if !run.HasPending(after) {
			return "a pause needs the gate it waits at", "pending_phase_transition"
		}
		if op == OpWithdraw && before.LastApproval == nil && len(after.GateVotes) >= len(before.GateVotes) {
			return "no approval can be taken back", "last_approval"
		}
		if op == "reactivate" && !run.HasPending(before) {
			return "lifting a block begins no wait for approval", "pending_phase_transition"
		}
	case wire.StatusBlocked:
		if wire.OrEmpty(after.BlockedOn) == "" {
			return "a block needs what the run is blocked on", "blocked_on"
		}
		if after.BlockedReason == nil && op != OpTransitionState {
			return "a block needs its reason and a way out", "blocked_reason"
		}
	case wire.StatusCompleted:
		switch {
		case wire.OrEmpty(after.CompletedAt) == "":
			return "a completed run has a completion time", "completed_at"
		case after.ActiveTurns.Len() > 0 && before.Status != wire.StatusCompleted:
			return "a run with active turns cannot complete", "active_turns"
		case run.HasPending(after):
			return "a completed run waits for no approval", "pending_run_completion"
		case op == "approve_completion" && before.PendingRunCompletion == nil:
			return "no run completion waits for approval", "pending_run_completion"
		}
	case wire.StatusFailed:
		switch {
		case op != OpAbandon:
		case after.Abandoned == nil:
			return "an abandoned run says by whom and why", "abandoned"
		case after.ActiveTurns.Len() > 0:
			return "an abandoned run has no active turns", "active_turns"
		case run.HasPending(after):
			return "an abandoned run waits for no approval", "pending_phase_transition"
		}
	case wire.StatusIdle:
		if after.ActiveTurns.Len() > 0 {
			return "an idle project has no active turns", "active_turns"
		}
	}
	return "", ""
}
