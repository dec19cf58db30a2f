// What people said to gates and to the run (docs/spec/approvals.md).

package account

import (
	"cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// PersonActs returns what people did according to one row of a decision ledger, one object for each act; nil for
// any other row. {type, gate_id, name, email, key_id (null: unsigned), terminal, reason, timestamp, votes_needed
// (null if the row does not say)}. Strings are copied from the row, whatever they contain.
func PersonActs(r *ojson.Object) []*ojson.Object {
	kind := r.String("type")
	member := map[string]string{
		"human_approval":      "approved_by",
		"human_approval_vote": "approved_by",
		"human_denial":        "denied_by",
		"approval_withdrawn":  "withdrawn_by",
		"run_abandoned":       "abandoned_by",
		"gate_left":           "left_by",
		"gate_retried":        "asked_by",
		"objection_closed":    "closed_by",
		"human_unblock":       "unblocked_by",
		"human_rejection":     "rejected_by",
		"human_overrule":      "overruled_by",
		"commits_reconciled":  "reconciled_by",
	}[kind]
	if member == "" {
		return nil
	}
	act := func(name, email, key, reason, at string, terminal bool) *ojson.Object {
		return ojson.NewObject(
			"type", kind,
			"gate_id", ojson.OrNull(r.String("gate_id")),
			"name", ojson.OrNull(name),
			"email", ojson.OrNull(email),
			"key_id", ojson.OrNull(key),
			"terminal", terminal,
			"reason", ojson.OrNull(reason),
			"timestamp", ojson.OrNull(at),
			"votes_needed", integer(r, "votes_needed"),
		)
	}
	by, reason, at := r.Object(member), r.String("reason"), r.String("timestamp")
	votes := r.Objects("votes")
	if len(votes) == 0 || member != "approved_by" {
		return []*ojson.Object{act(by.String("name"), by.String("email"), "", reason, at, r.Bool("terminal"))}
	}
	if kind == "human_approval_vote" {
		votes = votes[len(votes)-1:] // earlier ones have their own rows
	}
	var out []*ojson.Object
	for _, v := range votes {
		key := v.String("key_id")
		if v.String("statement") == "" {
			key = ""
		}
		out = append(out, act(v.String("name"), v.String("principal"), key, cmp.Or(v.String("reason"), reason),
			cmp.Or(v.String("at"), at), v.Bool("terminal")))
	}
	return out
}

func (m *runModel) personActs() []*ojson.Object {
	out := []*ojson.Object{}
	for _, r := range m.ledger {
		out = append(out, PersonActs(r)...)
	}
	return out
}

// ProofText describes the proof of a person's act.
func ProofText(act *ojson.Object) string {
	if key := act.String("key_id"); key != "" {
		return "signed with " + key
	}
	if act.Bool("terminal") {
		return "unsigned, at a terminal"
	}
	return "unsigned, without a terminal"
}
