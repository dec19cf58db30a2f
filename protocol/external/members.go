// What must account for another tool's change of each member of the state. A test checks the table against the
// type.

package external

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// memberRule says why a changed member of the state is not accounted for, "" when it is. field is the path within
// the member, "" for the member.
type memberRule struct {
	name string
	rule func(w *witness, before, after *run.State) (field, why string)
}

// memberRules returns the rule of each member, starting with members whose change says most about what happened.
func memberRules() []memberRule {
	return []memberRule{
		{"schema_version", never("schema_version")},
		{"run_id", never("run_id")},
		{"project_id", never("project_id")},
		{"phase", phaseRule},
		{"status", statusRule},
		{"pending_phase_transition", pendingRule("pending_phase_transition",
			func(s *run.State) bool { return s.PendingPhaseTransition != nil })},
		{"pending_run_completion",
			pendingRule("pending_run_completion", func(s *run.State) bool { return s.PendingRunCompletion != nil })},
		{"phase_gate_status", gatesRule},
		{"active_turns", turnsRule},
		{"turn_sequence", worked("turn_sequence")},
		{"created_at", clockRule("created_at", func(s *run.State) *string { return s.CreatedAt },
			run.EventRunStarted)},
		{"phase_entered_at", clockRule("phase_entered_at", func(s *run.State) *string { return s.PhaseEnteredAt },
			run.EventRunStarted, "phase_entered")},
		{"completed_at", clockRule("completed_at", func(s *run.State) *string { return s.CompletedAt },
			"run_completed")},
		{"accepted_integration_ref", worked("accepted_integration_ref")},
		{"last_completed_turn_id", lastTurnRule},
		{"last_completed_turn", worked("last_completed_turn")},
		{"blocked_on", anyRow("blocked_on")},
		{"blocked_reason", blockedRule},
		{"escalation", anyRow("escalation")},
		{"queued_phase_transition", worked("queued_phase_transition")},
		{"queued_run_completion", worked("queued_run_completion")},
		{"last_gate_failure", anyRow("last_gate_failure")},
		{"budget_reservations", worked("budget_reservations")},
		{"budget_status", budgetRule},
		{"delegation_queue", worked("delegation_queue")},
		{"pending_delegation_review", worked("pending_delegation_review")},
		{"next_recommended_role", worked("next_recommended_role")},
		{"non_progress_signature", worked("non_progress_signature")},
		{"non_progress_count", worked("non_progress_count")},
		{"repo_decisions", began("repo_decisions", "turn_accepted")},
		{"provenance", began("provenance")},
		{"inherited_context", began("inherited_context")},
		// Members of ours: only this program writes them, perhaps in another clone whose files were copied here.
		// With their rows they are a claim, see Claims.
		{"authority_base", began("authority_base")},
		{"charter_queue", anyRow("charter_queue")},
		{"charter_plans", anyRow("charter_plans")},
		{"intents", anyRow("intents")},
		{"abandoned", anyRow("abandoned")},
		{"last_approval", anyRow("last_approval")},
		{"gate_documents", anyRow("gate_documents")},
		{"gate_votes", anyRow("gate_votes")},
		{"spent_nonces", anyRow("spent_nonces")},
		{"overruled", anyRow("overruled")},
		{"phase_clock_at", phaseClockRule},
	}
}

type ruleFunc = func(w *witness, before, after *run.State) (field, why string)

// never is the rule of members that no other tool changes within a run.
func never(name string) ruleFunc {
	return func(*witness, *run.State, *run.State) (string, string) {
		return "", name + " was changed, and no other tool does that."
	}
}

// anyRow is the rule of members that many acts change, all of which leave a row.
func anyRow(name string) ruleFunc {
	return func(w *witness, _, _ *run.State) (string, string) {
		if w.rows {
			return "", ""
		}
		return "", name + " was changed, but no row says why."
	}
}

// worked is the rule of members that the work of turns changes.
func worked(name string) ruleFunc {
	return func(w *witness, _, _ *run.State) (string, string) {
		if w.worked() {
			return "", ""
		}
		return "", name + " was changed, but nothing is told of a turn that did it."
	}
}

// began is the rule of members that are set when a run begins, or by a named act.
func began(name string, kinds ...string) ruleFunc {
	return func(w *witness, _, _ *run.State) (string, string) {
		if w.told(append(kinds, run.EventRunStarted)...) {
			return "", ""
		}
		return "", name + " was changed after the run began."
	}
}

func phaseRule(w *witness, before, after *run.State) (string, string) {
	if w.leads(before.Phase, after.Phase) {
		return "", ""
	}
	return "", fmt.Sprintf("phase went from %q to %q, but no event says so.", before.Phase, after.Phase)
}

func statusRule(w *witness, before, after *run.State) (string, string) {
	switch {
	case after.Status == wire.StatusCompleted && !w.told("run_completed"):
		return "", "the run became completed, but no event says so."
	case after.Status == wire.StatusActive && len(w.events) == 0:
		return "", fmt.Sprintf("the run went from %s to active, but no event says why.", before.Status)
	case !w.rows:
		return "", fmt.Sprintf("the run went from %s to %s, but no row says why.", before.Status, after.Status)
	}
	return "", ""
}

// pendingRule is the rule of a gate that waits for a person: the wait begins with a turn's request, and ends with
// the answer.
func pendingRule(name string, waits func(*run.State) bool) ruleFunc {
	return func(w *witness, before, after *run.State) (string, string) {
		moved := w.told("phase_entered", "gate_approved", "run_completed") || len(w.skips) > 0
		switch {
		case waits(before) && !waits(after) && !moved:
			return "pending", "a pending approval vanished, but no event says it was given."
		case !w.rows:
			return "", name + " was changed, but no row says why."
		}
		return "", ""
	}
}

func gatesRule(w *witness, before, after *run.State) (string, string) {
	for gate, status := range after.PhaseGateStatus.All() {
		was, _ := before.PhaseGateStatus.Get(gate)
		switch {
		case status == was:
		case status == wire.GatePassed && !w.passed(gate):
			return "phase_gate_status." + gate, fmt.Sprintf("gate %q became passed, but no event says so.", gate)
		case !w.rows:
			return "phase_gate_status." + gate, fmt.Sprintf("gate %q became %s, but no row says why.", gate, status)
		}
	}
	for _, gate := range before.PhaseGateStatus.Keys() {
		if !after.PhaseGateStatus.Has(gate) && !w.rows {
			return "phase_gate_status." + gate, fmt.Sprintf("gate %q is gone, but no row says why.", gate)
		}
	}
	return "", ""
}

func turnsRule(w *witness, before, after *run.State) (string, string) {
	cleaned := make(map[string]bool)
	for _, e := range w.events["phase_cleanup"] {
		for _, id := range e.Object("payload").Strings("removed_turn_ids") {
			cleaned[id] = true
		}
	}
	for _, id := range before.ActiveTurns.Keys() {
		if !after.ActiveTurns.Has(id) && w.history[id] == nil && !cleaned[id] {
			return "active_turns." + id,
				fmt.Sprintf("turn %s is no longer active, but history does not say how it ended.", id)
		}
	}
	for id, turn := range after.ActiveTurns.All() {
		was, ok := before.ActiveTurns.Get(id)
		switch {
		case !ok && !w.turns[id]:
			return "active_turns." + id,
				fmt.Sprintf("turn %s is active, but no event says that it was dispatched.", id)
		case ok && was != nil && turn != nil:
			if member, why := turnRule(w, was, turn); why != "" {
				return "active_turns." + id + "." + member, fmt.Sprintf("turn %s: %s", id, why)
			}
		}
	}
	return "", ""
}

// turnConstants returns the members of a turn that never change after its assignment.
func turnConstants() []string {
	return []string{"turn_id", "run_id", "assigned_role", "runtime_id", "assigned_at", "intake_context",
		"delegation_context",
		"delegation_review", "reissued_from", "carried_changes"}
}

// turnLife returns the members that follow a process: starting and running leave no event.
func turnLife() []string { return []string{"status", "started_at", "dispatched_at"} }

func turnRule(w *witness, before, after *run.Turn) (member, why string) {
	was, is := ojson.Marshal(before), ojson.Marshal(after)
	for _, name := range slices.Concat(is.Keys(), was.Keys()) {
		if bytes.Equal(ojson.Compact(was.Value(name)), ojson.Compact(is.Value(name))) {
			continue
		}
		_, foreign := after.Extra.Get(name)
		_, dropped := before.Extra.Get(name)
		switch {
		case slices.Contains(turnConstants(), name):
			return name, name + " was changed; it stays as it was assigned."
		case foreign || dropped:
			continue // another tool's member decides nothing here
		case slices.Contains(turnLife(), name) && alive(before.Status) && alive(after.Status):
			continue
		case !w.turns[after.TurnID]:
			return name, name + " was changed, but no event of the turn says why."
		}
	}
	return "", ""
}

// alive reports whether a turn's process reaches the status by itself.
func alive(status string) bool {
	return slices.Contains([]string{wire.TurnAssigned, wire.TurnDispatched, wire.TurnStarting, wire.TurnRunning},
		status)
}

// maxLag is how long a moment may precede the event that reports it.
const maxLag = 10 * time.Minute

// clockRule is the rule of a moment, which must be the one that an event reports. A clock set back makes a run
// appear younger, or a phase shorter.
func clockRule(name string, at func(*run.State) *string, kinds ...string) ruleFunc {
	return func(w *witness, _, after *run.State) (string, string) {
		moment := wire.OrEmpty(at(after))
		var told []string
		for _, k := range kinds {
			for _, e := range w.events[k] {
				told = append(told, e.String("timestamp"))
			}
		}
		if name == "phase_entered_at" {
			for _, s := range w.skips {
				told = append(told, s.String("timestamp"))
			}
		}
		if slices.ContainsFunc(told, func(t string) bool { return near(moment, t) }) {
			return "", ""
		}
		return "", fmt.Sprintf("%s became %s, and no event tells of that moment.", name, wire.Quoted(moment))
	}
}

// phaseClockRule is the rule of a phase's clock, which starts again when the block of its time limit is lifted, and
// is gone in the next phase.
func phaseClockRule(w *witness, before, after *run.State) (string, string) {
	if after.PhaseClockAt == nil && w.told("phase_entered") {
		return "", ""
	}
	return clockRule("phase_clock_at", func(s *run.State) *string {
		return s.PhaseClockAt
	}, "escalation_resolved")(w, before, after)
}

// near reports whether the event at told can be about the moment.
func near(moment, told string) bool {
	m, err := wire.ParseTime(moment)
	if err != nil {
		return false
	}
	t, err := wire.ParseTime(told)
	if err != nil {
		return false
	}
	lag := t.Sub(m)
	return lag >= -time.Second && lag <= maxLag
}

func lastTurnRule(w *witness, _, after *run.State) (string, string) {
	id := wire.OrEmpty(after.LastCompletedTurnID)
	if w.history[id] != nil {
		return "", ""
	}
	return "", fmt.Sprintf("last_completed_turn_id became %s, and history has no new row of that turn.",
		wire.Quoted(id))
}

// blockedRule allows changes to the words that name the way out: every reader updates them from the configuration.
func blockedRule(w *witness, before, after *run.State) (string, string) {
	if w.rows {
		return "", ""
	}
	plain := func(r *run.BlockedReason) []byte {
		if r == nil {
			return nil
		}
		c := *r
		c.Recovery.RecoveryAction, c.Recovery.Detail = "", nil
		return ojson.Compact(ojson.Marshal(&c))
	}
	if bytes.Equal(plain(before.BlockedReason), plain(after.BlockedReason)) {
		return "", ""
	}
	return "", "blocked_reason was changed, but no row says why."
}

func budgetRule(w *witness, _, _ *run.State) (string, string) {
	if w.worked() || w.told("budget_exceeded_warn", run.EventRunStarted) {
		return "", ""
	}
	return "", "budget_status was changed, but nothing is told of a turn that spent or freed anything."
}
