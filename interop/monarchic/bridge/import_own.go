// Importing a plan from an export of the run that it was imported into.

package bridge

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// charterOf returns the charter that a step of an exported run came from, or nil.
func charterOf(step *ojson.Object) *ojson.Object {
	return step.Object("extensions").Object("agentxchain").Object("charter")
}

// ownPlan returns the plan that an exported run was given, if it was given exactly one.
func (r *reader) ownPlan(doc *ojson.Object) *ojson.Object {
	plans := doc.Object("extensions").Object("agentxchain").Objects("charter_plans")
	if len(plans) != 1 {
		return nil
	}
	return plans[0]
}

// ownCharter restores a task as it was imported (docs/monarchic-export.md#kinds: what was imported
// is exported under the same key).
func (r *reader) ownCharter(c *ojson.Object, at string) {
	for _, t := range r.plan.Tasks {
		if t.ID == c.String("charter_id") {
			return // the run needed several turns for it
		}
	}
	told := c.Object("task").Clone()
	if told == nil {
		told = &ojson.Object{}
	}
	source := c.Object("source")
	if source == nil {
		source = c
	}
	place, _ := c.Int("sequence")
	r.plan.Tasks = append(r.plan.Tasks, &Task{
		Pointer:   at,
		place:     place,
		ID:        r.text(c, at, "charter_id", true),
		RoleID:    c.String("role"),
		Goal:      r.text(c, at, "charter", true),
		DependsOn: c.Strings("depends_on"),
		Gates:     c.Strings("gates_required"),
		Contract:  c.Strings("acceptance_contract"),
		Told:      told,
		Source:    source,
		Human:     c.Bool("requires_human"),
	})
}
