// When the run needed a person, for what, and the outcome.

package account

import (
	"cmp"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// humanEscalations returns the records of human-escalations.jsonl (docs/notifications.md#human-escalations) in the
// order they were raised: {escalation_id, status open|resolved, type, category, blocked_on, detail, action, phase,
// turn_id, role, raised_at, resolved_at, resolved_via, resolution_notes, waited_seconds}.
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
		o.Set("waited_seconds", seconds(o.Value("raised_at"), o.Value("resolved_at")))
		list = append(list, o)
	}
	return list
}

// escalationsSection shows what the run waited for a person for, and how long.
func escalationsSection(r *ojson.Object) section {
	return listing("Human Escalations", "escalations", r.Objects("human_escalations"), []string{"When", "Standing",
		"Type", "Why", "Turn", "Resolved", "After"}, func(o *ojson.Object) []cell {
		status := standing(o.Value("status"))
		if o.String("status") == "open" && r.String("status") != string(wire.StatusCompleted) {
			status.tone = bad
		}
		how := say(o.Value("resolved_via"))
		if notes := say(o.Value("resolution_notes")); notes != "" {
			how += ": " + notes
		}
		return []cell{moment(o.Value("raised_at")), status, plain(o.Value("type")),
			plain(first(o, "detail", "blocked_on", "action")), code(o.Value("turn_id")), {text: how},
			{text: lasting(o.Value("waited_seconds"))}}
	})
}
