// A state written by another tool, held against the ledger rows that came with it.

package protocol

import (
	"fmt"
	"iter"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeStateTampered: the state says something that no record stands behind.
const CodeStateTampered = "state_tampered"

// CheckExternal says whether a state that another tool wrote is accounted for by
// the rows it appended since before. Another runner that moves a run says so in
// the event log and in history; an edit of state.json alone, which would open a
// gate, lift a block or drop a turn without a word, is refused. The order of
// what happened in between is not known, so only what must leave a trace is
// asked for. Both states belong to the same run.
func CheckExternal(before, after *run.State, appended run.LedgerReader) *wire.Error {
	if before.Run() != after.Run() || before.Run() == "" {
		return nil
	}
	events := make(map[string][]*ojson.Object)
	told := false // any event at all
	for l := range appended(wire.LedgerEvents) {
		told = true
		kind := l.Row.String("event_type")
		events[kind] = append(events[kind], l.Row.Object("payload"))
	}
	skipped := make(map[string]bool) // phases a timeout moved the run to; the reference writes no event then
	for l := range appended(wire.LedgerDecisions) {
		if l.Row.String("type") == "timeout_skip" {
			skipped[l.Row.String("to_phase")] = true
		}
	}
	refuse := func(field, format string, args ...any) *wire.Error {
		return &wire.Error{Code: CodeStateTampered, Field: field, Message: fmt.Sprintf(format, args...)}
	}
	moved := len(events["phase_entered"])+len(events["gate_approved"])+len(events["run_completed"])+len(skipped) > 0

	if before.Phase != after.Phase && !skipped[after.Phase] && !entered(events["phase_entered"], after.Phase) {
		return refuse("phase", "phase went from %q to %q, but no event says so.", before.Phase, after.Phase)
	}
	if before.Status != after.Status {
		switch {
		case after.Status == wire.StatusCompleted && len(events["run_completed"]) == 0:
			return refuse("status", "the run became completed, but no event says so.")
		case after.Status == wire.StatusActive && !told:
			return refuse("status", "the run went from %s to active, but no event says why.", before.Status)
		}
	}
	if !moved {
		if before.PendingPhaseTransition != nil && after.PendingPhaseTransition == nil || before.PendingRunCompletion != nil && after.PendingRunCompletion == nil {
			return refuse("pending", "a pending approval vanished, but no event says it was given.")
		}
		for gate, status := range after.PhaseGateStatus.All() {
			if was, _ := before.PhaseGateStatus.Get(gate); status == wire.GatePassed && was != wire.GatePassed {
				return refuse("phase_gate_status."+gate, "gate %q became passed, but no event says so.", gate)
			}
		}
	}
	gone := make(map[string]bool)
	for _, id := range before.ActiveTurns.Keys() {
		if !after.ActiveTurns.Has(id) {
			gone[id] = true
		}
	}
	for l := range appended(wire.LedgerHistory) {
		delete(gone, l.Row.String("turn_id"))
	}
	for _, p := range events["phase_cleanup"] {
		for _, id := range p.Strings("removed_turn_ids") {
			delete(gone, id)
		}
	}
	for _, id := range before.ActiveTurns.Keys() {
		if gone[id] {
			return refuse("active_turns."+id, "turn %s is no longer active, but history does not say how it ended.", id)
		}
	}
	return nil
}

func entered(payloads []*ojson.Object, phase string) bool {
	for _, p := range payloads {
		if p.String("to") == phase {
			return true
		}
	}
	return false
}

// CheckAdopted says whether a run that another tool began, and of which nothing is
// recorded, is accounted for by its own rows: whatever it claims beyond an active run
// in its first phase must have left a trace, and its beginning as well. The latter is
// asked of every run that displaces one that is not over.
func CheckAdopted(c *config.Config, after *run.State, displaces bool, ledgers run.LedgerReader) *wire.Error {
	if len(Claims(c, nil, after)) == 0 && !displaces {
		return nil
	}
	own := func(l wire.Ledger) iter.Seq[run.Line] {
		return func(yield func(run.Line) bool) {
			for line := range ledgers(l) {
				if run := line.Row.String("run_id"); run != "" && run != after.Run() {
					continue
				}
				if !yield(line) {
					return
				}
			}
		}
	}
	began := false
	for l := range own(wire.LedgerEvents) {
		began = began || l.Row.String("event_type") == "run_started" && l.Row.String("run_id") == after.Run()
	}
	if !began {
		return &wire.Error{Code: CodeStateTampered, Field: "run_id",
			Message: fmt.Sprintf("run %s is in phase %q, and no event says that it began.", after.Run(), after.Phase)}
	}
	before := FreshState(c, after.ProjectID)
	before.RunID = after.RunID
	return CheckExternal(before, after, own)
}
