// Decision numbers that another turn took meanwhile.

package result

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// RenumberDecisions gives every decision of r whose number is already in used, or was used by an earlier decision
// of r, the next free number, in the view and in r.Raw. A decision that outlives the run must be unique among all
// such decisions: durable holds their ids, nil for none (docs/compatibility.md#where-we-differ-on-purpose row 14).
// What decisions refer to (overrides, required ids) stays as it is: a reference means the decision that already had
// the number. The sets are not modified. The events name what changed, in order.
func RenumberDecisions(r *Result, used, durable *run.DecisionIDs) []NormalizationEvent {
	if r == nil {
		return nil
	}
	taken := used.Clone()
	// A new number must also avoid the later decisions' ids, and must not make a decision override itself.
	avoid := used.Clone()
	avoid.Merge(durable)
	for i := range r.Decisions {
		avoid.Add(r.Decisions[i].ID)
		avoid.Add(r.Decisions[i].Overrides)
	}
	var events []NormalizationEvent
	for i := range r.Decisions {
		d := &r.Decisions[i]
		if !taken.Has(d.ID) && !(Promoted(d) && durable.Has(d.ID)) {
			taken.Add(d.ID)
			continue
		}
		id := avoid.Next()
		avoid.Add(id)
		taken.Add(id)
		events = append(events, NormalizationEvent{
			Field: fmt.Sprintf("decisions[%d].id",
				i), Original: d.ID, Normalized: id, Rationale: "duplicate_decision_id_renumbered",
		})
		d.ID = id
		if d.Raw != nil {
			d.Raw.Set("id", id)
		}
	}
	return events
}

// checkDecisionNumbers refuses a number that another decision of the run has or, for a decision that outlives the
// run, a number of another such decision: rules.result_repair strict renumbers nothing.
func checkDecisionNumbers(r *stageReport, c *stageContext) {
	used, durable := c.in.UsedDecisions, c.in.DurableDecisions
	taken := used.Clone()
	free := used.Clone() // what a correction may use
	free.Merge(durable)
	for i := range c.result.Decisions {
		free.Add(c.result.Decisions[i].ID)
		free.Add(c.result.Decisions[i].Overrides)
	}
	for i := range c.result.Decisions {
		d := &c.result.Decisions[i]
		owner := ""
		switch {
		case used.Has(d.ID):
			owner = "an earlier decision of this run"
		case taken.Has(d.ID):
			owner = "another decision of this result"
		case Promoted(d) && durable.Has(d.ID):
			owner = "a decision that outlives its run"
		default:
			taken.Add(d.ID)
			continue
		}
		next := free.Next()
		free.Add(next)
		at := fmt.Sprintf("decisions[%d].id", i)
		r.errorf(ProblemDecisionTaken, at, d.ID, "%s is %s, which %s has; the next free id is %s", at, d.ID, owner,
			next)
	}
}

// checkRequiredNumbers refuses to require a decision of a delegate under a number that is taken: strict would
// refuse the delegate's decision, and its review would wait forever.
func checkRequiredNumbers(r *stageReport, c *stageContext) {
	taken := c.in.UsedDecisions.Clone()
	for i := range c.result.Decisions {
		taken.Add(c.result.Decisions[i].ID)
	}
	free := taken.Clone()
	free.Merge(c.in.DurableDecisions)
	for i, d := range c.result.Delegations {
		for j, id := range d.RequiredDecisionIDs {
			if taken.Has(id) {
				at := fmt.Sprintf("delegations[%d].required_decision_ids[%d]", i, j)
				r.errorf(ProblemRequiredTaken, at, id,
					"%s asks for %s, which a decision of this run has already; the next free id is %s", at, id,
					free.Next())
			}
		}
	}
}

// Promoted reports whether a decision outlives its run.
func Promoted(d *Decision) bool { return d.Durability == "repo" || d.Overrides != "" }
