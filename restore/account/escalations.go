// When the run needed a person, for what, and what became of it.

package account

import (
	"cmp"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// humanEscalations are the records of human-escalations.jsonl (docs/notifications.md#human-escalations) in the
// order they were raised: {escalation_id, status open|resolved, type, category,
// blocked_on, detail, action, phase, turn_id, role, raised_at, resolved_at,
// resolved_via, resolution_notes, waited_seconds}.
func (m *runModel) humanEscalations() []*ojson.Object {
	list := []*ojson.Object{}
	for _, row := range slices.Backward(agentrun.ListEscalations(m.rows(pathHuman))) {
		if !m.scope.holds(row) {
			continue
		}
		o := &ojson.Object{}
		for _, k := range [...]string{"escalation_id", "status", "type", "category", "blocked_on", "detail", "action",
			"phase", "turn_id", "role", "raised_at", "resolved_at", "resolved_via", "resolution_notes"} {
			o.Set(k, ojson.OrNull(row.String(cmp.Or(map[string]string{"role": "role_id",
				"raised_at": "created_at"}[k], k))))
		}
		o.Set("waited_seconds", seconds(member(o, "raised_at"), member(o, "resolved_at")))
		list = append(list, o)
	}
	return list
}

// escalationsSection tells what the run waited for a person for, and how long.
func escalationsSection(r *ojson.Object) section {
	return listing("Human Escalations", "escalations", r.Objects("human_escalations"), []string{"When", "Standing",
		"Type", "Why", "Turn", "Resolved", "After"}, func(o *ojson.Object) []cell {
		status := standing(member(o, "status"))
		if o.String("status") == "open" && r.String("status") != string(wire.StatusCompleted) {
			status.tone = bad
		}
		how := say(member(o, "resolved_via"))
		if notes := say(member(o, "resolution_notes")); notes != "" {
			how += ": " + notes
		}
		return []cell{moment(member(o, "raised_at")), status, plain(member(o, "type")),
			plain(first(o, "detail", "blocked_on", "action")), code(member(o, "turn_id")), {text: how},
			{text: lasting(member(o, "waited_seconds"))}}
	})
}
