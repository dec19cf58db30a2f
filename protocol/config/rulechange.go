// Compares the rules of two configurations: what changed, and whether the change weakens them.

package config

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// RuleChange is one difference between the rules of two configurations.
type RuleChange struct {
	// Pointer is the JSON pointer (RFC 6901) of the member. A list entry that is identified by its id or name has
	// its position after the change, or before it when the entry is gone.
	Pointer string
	// Before and After are compact JSON, "" where the member does not exist.
	Before, After string
	// Weakens is true unless the change is known to be at least as strict.
	Weakens bool
}

// RuleChanges lists the differences between the rules of two configurations; nil when there are none. A nil
// configuration means a missing or broken one: it is the weakest of all, so a change from it weakens nothing and a
// change to it weakens everything.
func RuleChanges(before, after *Config) []RuleChange {
	switch {
	case before == nil && after == nil:
		return nil
	case before == nil:
		return []RuleChange{{After: string(ojson.Compact(rulesOf(after)))}}
	case after == nil:
		return []RuleChange{{Before: string(ojson.Compact(rulesOf(before))), Weakens: true}}
	}
	c := &ruleCompare{before: before, after: after}
	c.document(rulesOf(before), rulesOf(after))
	return c.out
}

// Weakening returns the changes that weaken the rules.
func Weakening(changes []RuleChange) []RuleChange {
	var out []RuleChange
	for _, c := range changes {
		if c.Weakens {
			out = append(out, c)
		}
	}
	return out
}

// ruleCompare collects the differences of two configurations.
type ruleCompare struct {
	before, after *Config
	out           []RuleChange
}

// judge reports whether after is at least as strict as before; absent members are nil.
type judge func(before, after ojson.Value) bool

// members holds the judges of an object's members. Any change of a member without a judge weakens.
type members map[string]judge

func (c *ruleCompare) document(before, after *ojson.Object) {
	for _, key := range ojson.UnionKeys(after, before) {
		b, inBefore := before.Get(key)
		a, inAfter := after.Get(key)
		at, found := ojson.Member("", key), len(c.out)
		switch key {
		case "gates":
			c.entries(at, b, a, absentBefore, gateJudges())
		case "routing":
			c.routing(at, b, a)
		case "approval_policy":
			c.approval(at, b, a, inBefore && inAfter)
		case "policies":
			c.keyed(at, b, a, "id", false, policyAsStrict)
		case "hooks":
			c.hooks(at, b, a)
		case "rules":
			c.object(at, b, a, ruleJudges())
		case "budget":
			c.object(at, b, a, budgetJudges())
		case "timeouts":
			c.timeouts(at, b, a, inBefore && inAfter)
		case "workflow_kit":
			c.kit(at, b, a)
		case "roles":
			c.entries(at, b, a, nil, roleJudges())
		case "runtimes":
			// A new runtime does nothing until a role is bound to it, which is a change of the role.
			c.entries(at, b, a, absentBefore, nil)
		case "git_hooks":
			c.object(at, b, a, members{
				"protected":    grown,
				"require_turn": grown,
				// Without this member the default branch is protected, whatever its name.
				"protected_branches": func(before, after ojson.Value) bool {
					return before != nil && after != nil && grown(before, after)
				},
			})
		case "run_loop":
			c.object(at, b, a, members{"non_progress_threshold": notHigher(3), "max_turns": notHigher(50)})
		case "gate_semantic_coverage_mode":
			c.value(at, b, a, ranked(CoverageStrict, CoverageLenient, CoverageStrict))
		case "intent_coverage_mode":
			c.value(at, b, a, ranked("", CoverageLenient, "", CoverageStrict))
		default:
			c.deep(at, b, a)
		}
		if len(c.out) == found && !(inBefore == inAfter && ojson.Equal(b, a)) {
			c.note(at, b, a, true) // a difference that no comparison above covers
		}
	}
}

// note records a difference.
func (c *ruleCompare) note(at string, b, a ojson.Value, weakens bool) {
	c.out = append(c.out, RuleChange{
		Pointer: at,
		Before:  shownRule(b),
		After:   shownRule(a),
		Weakens: weakens,
	})
}

func shownRule(v ojson.Value) string {
	if v == nil {
		return ""
	}
	return string(ojson.Compact(v))
}

// value compares one member as a whole; j may be nil.
func (c *ruleCompare) value(at string, b, a ojson.Value, j judge) {
	if !ojson.Equal(b, a) {
		c.note(at, b, a, j == nil || !j(b, a))
	}
}

// object compares the members of two objects one by one. A member without a judge is compared down to its leaves.
func (c *ruleCompare) object(at string, b, a ojson.Value, judges members) {
	before, okBefore := asObject(b)
	after, okAfter := asObject(a)
	if !okBefore || !okAfter {
		c.value(at, b, a, nil)
		return
	}
	for _, key := range ojson.UnionKeys(after, before) {
		vb, inBefore := before.Get(key)
		va, inAfter := after.Get(key)
		place := ojson.Member(at, key)
		j, known := judges[key]
		switch {
		case known:
			c.value(place, vb, va, j)
		default:
			c.deep(place, vb, va)
		}
		if inBefore != inAfter && vb == nil && va == nil {
			c.note(place, vb, va, !known) // null on one side, absent on the other
		}
	}
}

// deep compares down to the leaves; every difference weakens.
func (c *ruleCompare) deep(at string, b, a ojson.Value) {
	before, okBefore := b.(*ojson.Object)
	after, okAfter := a.(*ojson.Object)
	if !okBefore || !okAfter {
		c.value(at, b, a, nil)
		return
	}
	c.object(at, before, after, nil)
}

// entries compares objects of objects. An entry that only one side has is one difference, judged by whole (nil: it
// weakens).
func (c *ruleCompare) entries(at string, b, a ojson.Value, whole judge, judges members) {
	before, okBefore := asObject(b)
	after, okAfter := asObject(a)
	if !okBefore || !okAfter {
		c.value(at, b, a, nil)
		return
	}
	for _, key := range ojson.UnionKeys(after, before) {
		vb, inBefore := before.Get(key)
		va, inAfter := after.Get(key)
		if inBefore && inAfter {
			c.object(ojson.Member(at, key), vb, va, judges)
		} else {
			c.note(ojson.Member(at, key), vb, va, whole == nil || !whole(vb, va))
		}
	}
}

// keyed compares lists of objects that are identified by one of their members. An added entry restricts more;
// ordered says whether the order matters.
func (c *ruleCompare) keyed(at string, b, a ojson.Value, key string, ordered bool, j judge) {
	before, okBefore := keyedList(b, key)
	after, okAfter := keyedList(a, key)
	if !okBefore || !okAfter {
		c.value(at, b, a, nil)
		return
	}
	var kept, left []string
	for i, e := range before {
		id := e.String(key)
		n := slices.IndexFunc(after, func(o *ojson.Object) bool { return o.String(key) == id })
		if n < 0 {
			c.note(ojson.Item(at, i), e, nil, true)
			continue
		}
		kept = append(kept, id)
		c.value(ojson.Item(at, n), e, after[n], j)
	}
	for i, e := range after {
		if id := e.String(key); slices.Contains(kept, id) {
			left = append(left, id)
		} else {
			c.note(ojson.Item(at, i), nil, e, false)
		}
	}
	if !slices.Equal(kept, left) {
		c.note(at, kept, left, ordered)
	}
}

// keyedList reads a list of objects whose key members are non-empty and distinct.
func keyedList(v ojson.Value, key string) ([]*ojson.Object, bool) {
	if v == nil {
		return nil, true
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	seen := map[string]bool{}
	out := make([]*ojson.Object, 0, len(list))
	for _, item := range list {
		o, ok := item.(*ojson.Object)
		if id := o.String(key); !ok || id == "" || seen[id] {
			return nil, false
		} else {
			seen[id] = true
		}
		out = append(out, o)
	}
	return out, true
}

// asObject reads an object; an absent one is empty.
func asObject(v ojson.Value) (*ojson.Object, bool) {
	if v == nil {
		return &ojson.Object{}, true
	}
	o, ok := v.(*ojson.Object)
	return o, ok
}
