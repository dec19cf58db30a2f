// Rows of decision-ledger.jsonl: the decision check and one builder per row family
// (docs/spec/state.md#decision-ledger).

package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of the decision ledger check (docs/conformance.md#becoming-a-target).
const (
	CodeDecisionIDFormat    = "invalid_decision_id_format"
	CodeEmptyRequiredField  = "empty_required_field"
	CodeInvalidEnumValue    = "invalid_enum_value"
	CodeDuplicateDecisionID = "duplicate_decision_id"
)

// DecisionCategories returns the valid categories in their published order
// (docs/conformance.md#becoming-a-target).
func DecisionCategories() []string {
	return []string{"implementation", "architecture", "scope", "process", "quality", "release"}
}

// ValidDecisionID reports whether id has the form DEC-<digits> (docs/spec/README.md#identifiers).
func ValidDecisionID(id string) bool {
	digits, ok := strings.CutPrefix(id, "DEC-")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// ValidateDecisionEntry checks a decision row before it is appended, in the order of
// docs/conformance.md#becoming-a-target: id format, statement, category, uniqueness within the run (existing
// reports whether the ledger has an id). Field names the member at fault; Details has valid_values or duplicate_id.
func ValidateDecisionEntry(entry *ojson.Object, existing func(id string) bool) *wire.Error {
	id := entry.String("id")
	switch {
	case !ValidDecisionID(id):
		return &wire.Error{Code: CodeDecisionIDFormat, Field: "id",
			Message: fmt.Sprintf("decision id %.80q is not of the form DEC-<number>", id)}
	case strings.TrimSpace(entry.String("statement")) == "":
		return &wire.Error{Code: CodeEmptyRequiredField, Field: "statement",
			Message: id + ": the statement is empty",
			Details: ojson.NewObject("error_field", "statement")}
	case !slices.Contains(DecisionCategories(), entry.String("category")):
		return &wire.Error{Code: CodeInvalidEnumValue, Field: "category",
			Message: fmt.Sprintf("%s: category %.80q is none of %s", id, entry.String("category"),
				strings.Join(DecisionCategories(), ", ")),
			Details: ojson.NewObject("error_field", "category", "valid_values", DecisionCategories())}
	case existing != nil && existing(id):
		return &wire.Error{Code: CodeDuplicateDecisionID, Field: "id",
			Message: id + " is already in the decision ledger of this run",
			Details: ojson.NewObject("duplicate_id", id)}
	}
	return nil
}

// NewDecisionEntry returns the ledger row of a decision accepted with turn at
// the given wire time (docs/spec/state.md#decision-ledger).
func NewDecisionEntry(d result.Decision, turn *run.Turn, phase, at string) *ojson.Object {
	return ojson.NewObject(
		"id", d.ID, "turn_id", turn.TurnID, "role", turn.AssignedRole, "phase", phase, "runtime_id", turn.RuntimeID,
		"category", d.Category, "statement", d.Statement, "rationale", d.Rationale,
		"objections_against", []any{}, "status", "accepted", "overridden_by", nil,
		"created_at", at,
	)
}

// turnRow starts a row that says what became of a turn.
func turnRow(decision, at string, turn *run.Turn, phase string) *ojson.Object {
	return ojson.NewObject("timestamp", at, "decision", decision, "turn_id", turn.TurnID,
		"attempt", turn.Attempt, "role", turn.AssignedRole, "phase", phase)
}

// NewForwardRevision records that an overlap with files of earlier turns was a
// revision, not a conflict; forward is {files, accepted_since_turn_ids, …}.
func NewForwardRevision(at string, turn *run.Turn, phase string, forward *ojson.Object) *ojson.Object {
	o := turnRow("forward_revision_accepted", at, turn, phase)
	o.Set("forward_revision", ojson.NewObject("files", wire.NonNil(forward.Strings("files")),
		"accepted_since_turn_ids", wire.NonNil(forward.Strings("accepted_since_turn_ids"))))
	return o
}

// NewConflictEntry returns a conflict row (docs/spec/observation.md#conflicts). Kind is conflict_detected,
// conflict_rejected, conflict_resolution_selected or conflict_resolved; conflict is the conflict object or its
// summary; more has further members (resolution_chosen, operator_reason, merge_strategy) or is nil.
func NewConflictEntry(kind, at string, turn *run.Turn, phase string, conflict, more *ojson.Object) *ojson.Object {
	o := turnRow(kind, at, turn, phase)
	since := conflict.Strings("accepted_since_turn_ids")
	for _, row := range conflict.Objects("accepted_since") {
		if id := row.String("turn_id"); id != "" && !slices.Contains(since, id) {
			since = append(since, id)
		}
	}
	ratio, _ := conflict.Float("overlap_ratio")
	o.Set("conflict", ojson.NewObject("conflicting_files", wire.NonNil(conflict.Strings("conflicting_files")),
		"accepted_since_turn_ids", wire.NonNil(since), "overlap_ratio", ratio))
	for k, v := range more.All() {
		o.Set(k, v)
	}
	return o
}

// NewPolicyEscalation records that policies stopped the acceptance of a turn;
// violations are {policy_id, rule, message}.
func NewPolicyEscalation(at string, turn *run.Turn, phase string, violations []*ojson.Object) *ojson.Object {
	return ojson.NewObject("timestamp", at, "decision", "policy_escalation", "turn_id", turn.TurnID,
		"role", turn.AssignedRole, "phase", phase, "violations", violations)
}

// NewOperatorEscalatedEntry records that a person stopped the run.
func NewOperatorEscalatedEntry(at, runID, phase, blockedOn string, escalation *ojson.Object) *ojson.Object {
	return ojson.NewObject("timestamp", at, "decision", "operator_escalated", "run_id", runID,
		"phase", phase, "blocked_on", blockedOn, "escalation", escalation)
}

// NewEscalationResolvedEntry records how a block that began with an escalation
// was lifted; turnID and role may be "".
func NewEscalationResolvedEntry(at, runID, phase, via, blockedOn string, escalation *ojson.Object,
	turnID, role string) *ojson.Object {
	return ojson.NewObject("timestamp", at, "decision", "escalation_resolved", "run_id", runID,
		"phase", phase, "resolved_via", via, "blocked_on", blockedOn, "escalation", escalation,
		"turn_id", ojson.OrNull(turnID), "role", ojson.OrNull(role))
}

// NewTurnReissuedEntry records that a turn was reissued; a missing baseline counts as unknown and not clean
// (docs/spec/lifecycle.md#reissuing-a-turn).
func NewTurnReissuedEntry(at string, old *run.Turn, newRole, phase, reason string,
	baseline *run.Baseline) *ojson.Object {
	brief := func(b *run.Baseline) *ojson.Object {
		if b == nil {
			return ojson.NewObject("head_ref", nil, "clean", false)
		}
		return ojson.NewObject("head_ref", b.HeadRef, "clean", b.Clean)
	}
	return ojson.NewObject("timestamp", at, "decision", "turn_reissued", "turn_id", old.TurnID,
		"role", old.AssignedRole, "new_role", newRole, "phase", phase, "reason", reason,
		"old_baseline", brief(old.Baseline), "new_baseline", brief(baseline))
}

// NewApprovalPolicyEntry records a human gate that the approval policy passed;
// from and to are written for a phase transition only.
func NewApprovalPolicyEntry(at, gateType, gateID, from, to string, verdict gates.ApprovalVerdict) *ojson.Object {
	o := ojson.NewObject("type", "approval_policy", "gate_type", gateType, "action", "auto_approve",
		"matched_rule", verdict.MatchedRule)
	if gateType == run.GatePhase {
		o.Set("from_phase", from)
		o.Set("to_phase", to)
	}
	o.Set("reason", verdict.Reason)
	o.Set("gate_id", ojson.OrNull(gateID))
	o.Set("timestamp", at)
	return o
}

// NewGateFailureEntry records a failed gate: the members of last_gate_failure
// (docs/spec/state.md#gate-failure) after the type.
func NewGateFailureEntry(f *run.GateFailure) *ojson.Object {
	o := ojson.NewObject("type", "gate_failure")
	for k, v := range ojson.Marshal(f).All() {
		if k != "type" {
			o.Set(k, v)
		}
	}
	return o
}

// NewGateReconciliationEntry records that files which a gate missed exist now
// (docs/spec/lifecycle.md#lack-of-progress).
func NewGateReconciliationEntry(at, gateID, gateType, phase, turnID string, missing []string) *ojson.Object {
	return ojson.NewObject("type", "gate_reconciliation", "gate_id", ojson.OrNull(gateID), "gate_type", gateType,
		"phase", phase,
		"reason", "post_acceptance_reconciliation", "previously_missing_files", missing,
		"reconciled_at", at, "reconciled_by_turn", ojson.OrNull(turnID))
}

// GateActionRun is a command that an approval ran (docs/spec/gates.md#gate-actions).
type GateActionRun struct {
	At, AttemptID, GateID, GateType, Phase string
	RequestedByTurn, TriggerCommand        string
	Index                                  int // 1-based
	Label, Command                         string
	TimeoutMS                              int
	Succeeded                              bool
	ExitCode                               *int
	Signal, StdoutTail, StderrTail         string
	SpawnError                             string
	TimedOut                               bool
}

// NewGateActionEntry returns the row of one gate action.
func NewGateActionEntry(g GateActionRun) *ojson.Object {
	status := "failed"
	if g.Succeeded {
		status = "succeeded"
	}
	var exit ojson.Value
	if g.ExitCode != nil {
		exit = ojson.Int(*g.ExitCode)
	}
	return ojson.NewObject("type", "gate_action", "timestamp", g.At, "attempt_id", g.AttemptID,
		"gate_id", g.GateID, "gate_type", g.GateType, "phase", g.Phase,
		"requested_by_turn", ojson.OrNull(g.RequestedByTurn), "trigger_command", g.TriggerCommand,
		"action_index", g.Index, "action_label", ojson.OrNull(g.Label), "command", g.Command,
		"timeout_ms", g.TimeoutMS,
		"status", status, "exit_code", exit, "signal", ojson.OrNull(g.Signal),
		"stdout_tail", g.StdoutTail, "stderr_tail", g.StderrTail,
		"spawn_error", ojson.OrNull(g.SpawnError), "timed_out", g.TimedOut)
}

// NewTimeoutEntry returns a timeout row (docs/spec/gates.md#timeouts). Kind is timeout, timeout_warning,
// timeout_skip or timeout_skip_failed; the skips also have from_phase, to_phase, gate_id and, when failed, reasons,
// which the caller sets.
func NewTimeoutEntry(kind, at, turnID, phase string, h limits.TimeoutHit) *ojson.Object {
	if h.Phase != "" {
		phase = h.Phase
	}
	return ojson.NewObject("type", kind, "scope", h.Scope, "phase", ojson.OrNull(phase),
		"turn_id", ojson.OrNull(turnID),
		"limit_minutes", h.LimitMinutes, "elapsed_minutes", h.ElapsedMinutes,
		"exceeded_by_minutes", h.ExceededByMinutes, "action", h.Action, "timestamp", at)
}

// NewNonProgressEntry records that the same gate failure occurred too often
// (docs/spec/lifecycle.md#lack-of-progress).
func NewNonProgressEntry(at, gateID, signature string, consecutive, threshold int, failing []string) *ojson.Object {
	return ojson.NewObject("type", "non_progress_block", "gate_id", ojson.OrNull(gateID),
		"consecutive_turns", consecutive,
		"threshold", threshold, "failing_files", failing, "signature", signature, "timestamp", at)
}

// HumanApproval is an approval of a gate by a person. The reference has no such row; other readers skip unknown
// types.
type HumanApproval struct {
	Type               string // human_approval, human_approval_vote
	GateType, GateID   string
	FromPhase, ToPhase string
	RequestedByTurn    string
	Approver           evidence.Actor
	Reason             string // "" for no reason
	At                 string
	Votes              []*run.Vote         // of everyone who agreed; nil where no configuration asks who it was
	Needed             int                 // how many people must agree
	Evidence           []evidence.FileBlob // the gate's documents as they were approved
}

// NewHumanApprovalEntry returns the ledger row of an approval by a person: who,
// whether a terminal was attached, and what was approved.
func NewHumanApprovalEntry(a HumanApproval) *ojson.Object {
	o := ojson.NewObject("type", a.Type, "gate_type", a.GateType, "gate_id", ojson.OrNull(a.GateID),
		"from_phase", ojson.OrNull(a.FromPhase), "to_phase", ojson.OrNull(a.ToPhase),
		"requested_by_turn", ojson.OrNull(a.RequestedByTurn),
		"approved_by", ojson.NewObject("name", a.Approver.Name, "email", a.Approver.Email),
		"terminal", a.Approver.Terminal, "timestamp", a.At)
	if a.Reason != "" {
		o.Set("reason", a.Reason)
	}
	if len(a.Evidence) > 0 {
		files := &ojson.Object{}
		for _, f := range a.Evidence {
			digest := run.DocumentMissing
			if f.Blob != nil {
				digest = "sha256:" + f.Blob.Digest
			}
			files.Set(f.Path, digest)
		}
		o.Set("evidence", files)
	}
	if len(a.Votes) > 0 {
		o.Set("votes", run.VoteRows(a.Votes))
		o.Set("votes_needed", a.Needed)
	}
	return o
}
