// Human escalations: the ledger rows and which are open (docs/notifications.md#human-escalations).

package run

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// NewEscalation returns the raise row of the block s is in: who has to do what, and the command that reports it as
// done. s.BlockedReason must be set; roleID is the role of the turn concerned, or "". The row is {kind:"raised",
// escalation_id, created_at, run_id, phase, blocked_on, category, typed_reason, type, service, action,
// recovery_action, resolution_command, detail, turn_id, role_id}.
func NewEscalation(id, at string, s *State, roleID string) *ojson.Object {
	b := s.BlockedReason
	if b == nil {
		b = DescribeBlock(s, wire.OrEmpty(s.BlockedOn), "")
	}
	typ, service := ClassifyEscalation(wire.OrEmpty(s.BlockedOn), b.Recovery.TypedReason,
		wire.OrEmpty(b.Recovery.Detail), b.Category)
	return ojson.NewObject(
		"kind", "raised", "escalation_id", id, "created_at", at,
		"run_id", ojson.OrNull(s.Run()), "phase", ojson.OrNull(s.Phase), "blocked_on", s.BlockedOn,
		"category", ojson.OrNull(b.Category), "typed_reason", ojson.OrNull(b.Recovery.TypedReason),
		"type", typ, "service", ojson.OrNull(service), "action", escalationAction(typ, service),
		"recovery_action", ojson.OrNull(b.Recovery.RecoveryAction), "resolution_command", CmdUnblock+" "+id,
		"detail", b.Recovery.Detail, "turn_id", b.TurnID, "role_id", ojson.OrNull(roleID),
	)
}

// NewEscalationResolution returns the resolve row {kind:"resolved",
// escalation_id, resolved_at, resolved_via, resolution_notes}; notes may be "".
func NewEscalationResolution(id, at, via, notes string) *ojson.Object {
	return ojson.NewObject("kind", "resolved", "escalation_id", id, "resolved_at", at,
		"resolved_via", via, "resolution_notes", ojson.OrNull(notes))
}

// CompletedEscalation joins a raise row with its resolve row.
func CompletedEscalation(raised, resolved *ojson.Object) *ojson.Object {
	o := raised.Clone()
	if o == nil {
		o = ojson.NewObject()
	}
	for _, k := range []string{"resolved_at", "resolved_via", "resolution_notes"} {
		o.Set(k, resolved.Value(k))
	}
	return o
}

// FoldEscalations reads the rows of human-escalations.jsonl in order and returns the records still open, oldest
// first, and the completed ones, newest first.
func FoldEscalations(rows []*ojson.Object) (open, completed []*ojson.Object) {
	at := make(map[string]int) // positions in open
	for _, row := range rows {
		id := row.String("escalation_id")
		if id == "" {
			continue
		}
		i, isOpen := at[id]
		switch kind := row.String("kind"); {
		case kind == "raised" && !isOpen:
			at[id] = len(open)
			open = append(open, row)
		case kind == "resolved" && isOpen:
			completed = append(completed, CompletedEscalation(open[i], row))
			open[i] = nil
			delete(at, id)
		}
	}
	slices.Reverse(completed)
	return slices.DeleteFunc(open, func(o *ojson.Object) bool { return o == nil }), completed
}

// ListEscalations returns the materialised view of human-escalations.jsonl: every record once, newest first, with
// status open or resolved and, when resolved, the members of its resolve row
// (docs/notifications.md#human-escalations).
func ListEscalations(rows []*ojson.Object) []*ojson.Object {
	open, out := FoldEscalations(rows)
	for _, row := range out {
		row.Set("status", "resolved")
	}
	for _, row := range open {
		o := row.Clone()
		o.Set("status", "open")
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b *ojson.Object) int {
		return strings.Compare(b.String("created_at"), a.String("created_at"))
	})
	return out
}

// EscalationKey returns the de-duplication key of a raise row: one open record per run, blocker and turn.
func EscalationKey(row *ojson.Object) [3]string {
	return [3]string{row.String("run_id"), row.String("blocked_on"), row.String("turn_id")}
}

// CurrentEscalation returns the open record of the block s is in, or nil.
func CurrentEscalation(s *State, open []*ojson.Object) *ojson.Object {
	if s.Status != wire.StatusBlocked || s.BlockedReason == nil {
		return nil
	}
	key := [3]string{s.Run(), wire.OrEmpty(s.BlockedOn), wire.OrEmpty(s.BlockedReason.TurnID)}
	for _, row := range open {
		if EscalationKey(row) == key {
			return row
		}
	}
	return nil
}

// OperatorSlug turns the reason of an operator escalation into the last part of
// blocked_on: lower case, runs of other characters as one hyphen, "operator" when
// nothing is left (docs/spec/state.md#what-blocks-a-run).
func OperatorSlug(reason string) string {
	var b strings.Builder
	gap := false
	for _, c := range strings.ToLower(reason) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(c)
			gap = false
		} else {
			gap = true
		}
	}
	if b.Len() == 0 {
		return "operator"
	}
	return b.String()
}
