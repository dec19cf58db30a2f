// Decision numbers another turn has taken meanwhile.

package result

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// RenumberDecisions gives every decision of r whose number is already in used,
// or was used by an earlier decision of r, the next free number, in the view
// and in r.Raw. A decision that outlives the run must be unique among the others
// that do as well: durable are their ids, nil for none (docs/compatibility.md#where-we-differ-on-purpose row 14). What decisions refer to (overrides, required ids) stays as it
// is: a reference means the decision that already had the number. The sets are
// not modified. The events name what changed, in order.
func RenumberDecisions(r *Result, used, durable *run.DecisionIDs) []NormalizationEvent {
	if r == nil {
		return nil
	}
	taken := used.Clone()
	// A fresh number must avoid the later decisions' ids too, and must not turn
	// an override into one of the decision itself.
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
			Field: fmt.Sprintf("decisions[%d].id", i), Original: d.ID, Normalized: id, Rationale: "duplicate_decision_id_renumbered",
		})
		d.ID = id
		if d.Raw != nil {
			d.Raw.Set("id", id)
		}
	}
	return events
}

// Promoted reports whether a decision outlives its run.
func Promoted(d *Decision) bool { return d.Durability == "repo" || d.Overrides != "" }
