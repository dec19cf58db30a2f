// Normalisation rules N11-N14, N20, N21: decisions and objections.

package result

import (
	"fmt"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// N11-N14.
func (n *normalizer) decisions() {
	items := n.doc.Array("decisions")
	var taken *run.DecisionIDs // computed when first needed
	for i, item := range items {
		d, ok := item.(*ojson.Object)
		if !ok {
			continue
		}
		at := fmt.Sprintf("decisions[%d]", i)
		if old, _ := d.Get("id"); !run.IsDecisionID(d.String("id")) {
			if taken == nil {
				taken = n.takenDecisions(items)
			}
			id := run.DecisionID(uint64(i + 1))
			if taken.Has(id) {
				id = taken.Next()
			}
			taken.Add(id)
			d.Set("id", id)
			n.changed(at+".id", old, id, "invalid_decision_id_rewritten")
		}
		n.copyFirst(d, at, "statement", isString, "decision", "description", "summary", "title")
		n.copyFirst(d, at, "rationale", nonBlank, "reason", "why", "description", "decision", "statement")
		if old, _ := d.Get("category"); !isDecisionCategory(old) {
			d.Set("category", "implementation")
			n.changed(at+".category", old, "implementation", "missing_category_defaulted")
		}
	}
}

// takenDecisions returns the ids that an invented one must not collide with: ids of the run and of this result, and
// those that a decision here overrides or that are listed as repository decisions
// (docs/compatibility.md#where-we-differ-on-purpose).
func (n *normalizer) takenDecisions(items []any) *run.DecisionIDs {
	taken := n.in.UsedDecisions.Clone()
	for _, item := range items {
		if d, ok := item.(*ojson.Object); ok {
			taken.Add(d.String("id"))
			taken.Add(d.String("overrides"))
		}
	}
	if n.in.State != nil {
		for _, d := range n.in.State.RepoDecisions {
			taken.Add(d.String("id"))
		}
	}
	return taken
}

// copyFirst fills a blank member from the first usable source; a usable source that is itself blank ends the search
// (docs/spec/results.md#normalisation N12).
func (n *normalizer) copyFirst(o *ojson.Object, at, member string, usable func(ojson.Value) bool, sources ...string) {
	old, _ := o.Get(member)
	if nonBlank(old) {
		return
	}
	for _, source := range sources {
		v, _ := o.Get(source)
		if !usable(v) {
			continue
		}
		if nonBlank(v) {
			o.Set(member, v)
			n.changed(at+"."+member, old, v, "copied_from_"+source)
		}
		return
	}
}

func isString(v ojson.Value) bool { _, ok := v.(string); return ok }

// N20, N21. Like decision ids, invented objection ids avoid those in the result.
func (n *normalizer) objections() {
	items := n.doc.Array("objections")
	var taken *objectionIDs
	for i, item := range items {
		o, ok := item.(*ojson.Object)
		if !ok {
			continue
		}
		at := fmt.Sprintf("objections[%d]", i)
		if old, _ := o.Get("id"); !isObjectionID(o.String("id")) {
			if taken == nil {
				taken = newObjectionIDs(items)
			}
			id := taken.draw(i + 1)
			o.Set("id", id)
			n.changed(at+".id", old, id, "invalid_objection_id_rewritten")
		}
		n.copyFirst(o, at, "statement", nonBlank, "summary", "detail")
	}
}

// isObjectionID reports whether id is OBJ- followed by 1 to 64 digits.
func isObjectionID(id string) bool { return wire.Numbered(id, "OBJ-", 1, run.MaxDecisionDigits) }

// objectionIDs allocates objection numbers within one result.
type objectionIDs struct {
	used map[int]bool
	top  int
}

func newObjectionIDs(items []any) *objectionIDs {
	t := &objectionIDs{used: make(map[int]bool, len(items))}
	for _, item := range items {
		if o, ok := item.(*ojson.Object); ok && isObjectionID(o.String("id")) {
			// Numbers too large for an int cannot collide with a drawn one.
			if k, err := strconv.Atoi(o.String("id")[len("OBJ-"):]); err == nil {
				t.used[k] = true
			}
		}
	}
	return t
}

// draw returns the wanted number or, when that is taken, the least free one above all positions drawn so far.
func (t *objectionIDs) draw(want int) string {
	if t.used[want] {
		want = max(t.top, len(t.used)) + 1
		for t.used[want] {
			want++
		}
		t.top = want
	}
	t.used[want] = true
	return fmt.Sprintf("OBJ-%03d", want)
}
