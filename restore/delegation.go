// The delegation summary, derived from accepted history (docs/export.md#what-is-in-it).

package restore

import (
	"bytes"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// delegations collects delegated work from history. Ids keep their JSON spelling: another tool's ids need not be
// strings.
type delegations struct {
	parents  ojson.Map[*delegating]
	children map[string]*ojson.Object // delegation -> {turn_id, status}
	reviews  map[string]*ojson.Object // parent turn -> history row
}

type delegating struct{ turn, role, issued any }

// mayDelegate quickly checks a history row: nearly all rows lack these characters and need no decoding. A name can
// be hidden by escapes.
func mayDelegate(row []byte) bool {
	return bytes.Contains(row, []byte("delegation")) || bytes.Contains(row, []byte(`\u`))
}

func idKey(v any) string {
	if _, ok := v.(absent); ok {
		return ""
	}
	return string(ojson.Compact(v))
}

// add adds a history row; values other than objects are ignored.
func (d *delegations) add(row *ojson.Object) {
	if row == nil {
		return
	}
	if d.children == nil {
		d.children, d.reviews = make(map[string]*ojson.Object), make(map[string]*ojson.Object)
	}
	turn := get(row, "turn_id")
	if issued, ok := get(row, "delegations_issued").([]any); ok {
		d.parents.Set(idKey(turn), &delegating{turn, get(row, "role"), issued})
	}
	if c := get(row, "delegation_context"); truthy(c) {
		child := &ojson.Object{}
		set(child, "turn_id", turn)
		set(child, "status", or(get(row, "status"), "completed"))
		d.children[idKey(get(objectOf(c), "delegation_id"))] = child
	}
	if r := get(row, "delegation_review"); truthy(r) {
		d.reviews[idKey(get(objectOf(r), "parent_turn_id"))] = row
	}
}

// set sets a member of o unless the value is absent: such a member is left out, as in JSON.
func set(o *ojson.Object, key string, v any) {
	if _, ok := v.(absent); !ok {
		o.Set(key, v)
	}
}

// summary returns {total_delegations_issued, delegation_chains} and the total.
func (d *delegations) summary() (*ojson.Object, int) {
	total := 0
	chains := []any{}
	for key, p := range d.parents.All() {
		issued, _ := p.issued.([]any)
		total += len(issued)
		review := d.reviews[key]
		results := make(map[string]*ojson.Object)
		if list, ok := get(objectOf(get(review, "delegation_review")), "results").([]any); ok {
			for _, r := range list {
				if id := get(objectOf(r), "delegation_id"); truthy(id) {
					results[idKey(id)] = objectOf(r)
				}
			}
		}
		list := []any{}
		completed, failed := true, true
		for _, item := range issued {
			o := d.delegation(objectOf(item), results)
			status := get(o, "status")
			completed = completed && status == any("completed")
			failed = failed && status == any("failed")
			list = append(list, o)
		}
		chain := &ojson.Object{}
		set(chain, "parent_turn_id", p.turn)
		set(chain, "parent_role", p.role)
		chain.Set("delegations", list)
		chain.Set("review_turn_id", orNull(get(review, "turn_id")))
		switch {
		case review == nil:
			chain.Set("outcome", "pending")
		case completed:
			chain.Set("outcome", "completed")
		case failed:
			chain.Set("outcome", "failed")
		default:
			chain.Set("outcome", "mixed")
		}
		chains = append(chains, chain)
	}
	return ojson.NewObject("total_delegations_issued", total, "delegation_chains", chains), total
}

func (d *delegations) delegation(issued *ojson.Object, results map[string]*ojson.Object) *ojson.Object {
	id := get(issued, "id")
	child, result := d.children[idKey(id)], results[idKey(id)]
	array := func(o *ojson.Object, key string) any {
		if list, ok := get(o, key).([]any); ok {
			return list
		}
		return []any{}
	}
	o := &ojson.Object{}
	set(o, "delegation_id", id)
	set(o, "to_role", get(issued, "to_role"))
	set(o, "charter", get(issued, "charter"))
	o.Set("required_decision_ids", array(issued, "required_decision_ids"))
	o.Set("satisfied_decision_ids", array(result, "satisfied_decision_ids"))
	o.Set("missing_decision_ids", array(result, "missing_decision_ids"))
	o.Set("status", or(get(result, "status"), or(get(child, "status"), "pending")))
	o.Set("child_turn_id", orNull(get(child, "turn_id")))
	return o
}
