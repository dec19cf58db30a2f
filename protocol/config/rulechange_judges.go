// When a change of a rule is known to be at least as strict: the judges of RuleChanges.

package config

import (
	"math"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// absentBefore accepts an addition where there was nothing.
func absentBefore(before, _ ojson.Value) bool { return before == nil }

// turnedOn accepts a switch that is only ever turned on; def is its default.
func turnedOn(def bool) judge {
	read := func(v ojson.Value) (on, ok bool) {
		if v == nil {
			return def, true
		}
		on, ok = v.(bool)
		return on, ok
	}
	return func(before, after ojson.Value) bool {
		b, okBefore := read(before)
		a, okAfter := read(after)
		return okBefore && okAfter && (a || !b)
	}
}

// notHigher accepts a limit that does not rise; def is the limit of an absent member.
func notHigher(def float64) judge {
	return func(before, after ojson.Value) bool {
		b, okBefore := numberOr(before, def)
		a, okAfter := numberOr(after, def)
		return okBefore && okAfter && a <= b
	}
}

func numberOr(v ojson.Value, def float64) (float64, bool) {
	if v == nil {
		return def, true
	}
	n, ok := v.(ojson.Number)
	if !ok {
		return 0, false
	}
	return n.Float64()
}

// ranked accepts a word that is not earlier in words, which are ordered from lax to strict; def is the word of an
// absent member.
func ranked(def string, words ...string) judge {
	rank := func(v ojson.Value) int {
		word, ok := v.(string)
		if v == nil {
			word, ok = def, true
		}
		if !ok {
			return -1
		}
		return slices.Index(words, word)
	}
	return func(before, after ojson.Value) bool {
		b, a := rank(before), rank(after)
		return b >= 0 && a >= b
	}
}

// grown accepts a list of demands from which none was removed.
func grown(before, after ojson.Value) bool {
	b, okBefore := texts(before)
	a, okAfter := texts(after)
	return okBefore && okAfter && containsAll(a, b)
}

// narrowed accepts a list of permissions to which none was added. An empty list is not accepted: in some places it
// permits everything.
func narrowed(before, after ojson.Value) bool {
	b, okBefore := texts(before)
	a, okAfter := texts(after)
	return okBefore && okAfter && len(a) > 0 && containsAll(b, a)
}

// scoped accepts a list of the places where a rule applies if none was removed; an empty list means everywhere.
func scoped(before, after ojson.Value) bool {
	b, okBefore := texts(before)
	a, okAfter := texts(after)
	return okBefore && okAfter && (len(a) == 0 || len(b) > 0 && containsAll(a, b))
}

func texts(v ojson.Value) ([]string, bool) {
	if v == nil {
		return nil, true
	}
	list, ok := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, isText := item.(string)
		if !isText {
			return nil, false
		}
		out = append(out, s)
	}
	return out, ok
}

func containsAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(have, s) })
}

func gateJudges() members {
	return members{
		"requires_files":             grown,
		"requires_verification_pass": turnedOn(false),
		"requires_human_approval":    turnedOn(false),
		"credentialed":               turnedOn(false),
	}
}

func ruleJudges() members {
	return members{
		"challenge_required":  turnedOn(true),
		"max_turn_retries":    notHigher(2),
		"max_deadlock_cycles": notHigher(2),
		"enforce_routing":     turnedOn(false),
		"strict_verification": turnedOn(false),
		"objections_block":    turnedOn(false),
		"result_repair":       ranked(RepairReference, RepairReference, RepairStrict),
	}
}

func budgetJudges() members {
	return members{
		"per_turn_max_usd": notHigher(math.Inf(1)),
		"per_run_max_usd":  notHigher(math.Inf(1)),
		"on_exceed":        ranked("pause_and_escalate", "warn", "pause_and_escalate"),
	}
}

func roleJudges() members {
	return members{
		"write_authority": ranked("", wire.Authoritative, wire.Proposed, wire.ReviewOnly),
		"declared_file_scope": func(before, after ojson.Value) bool {
			return before == nil && len(asTexts(after)) > 0 || narrowed(before, after)
		},
	}
}

func asTexts(v ojson.Value) []string { list, _ := texts(v); return list }

// routing compares the phases: their order, and what may happen in each.
func (c *ruleCompare) routing(at string, b, a ojson.Value) {
	before, okBefore := asObject(b)
	after, okAfter := asObject(a)
	if !okBefore || !okAfter {
		c.value(at, b, a, nil)
		return
	}
	c.entries(at, before, after, nil, members{
		"allowed_next_roles":   narrowed,
		"exit_gate":            absentBefore,
		"max_concurrent_turns": notHigher(1),
		"timeout_minutes":      c.timeLimit(perPhase(c.before), perPhase(c.after)),
		"timeout_action": func(before, after ojson.Value) bool {
			return after == TimeoutEscalate || before == TimeoutSkipPhase && after == TimeoutWarn
		},
	})
	common := func(o, other *ojson.Object) []string {
		return slices.DeleteFunc(slices.Clone(o.Keys()), func(k string) bool { return !other.Has(k) })
	}
	if x, y := common(before, after), common(after, before); !slices.Equal(x, y) {
		c.note(at, x, y, true)
	}
}

// timeLimit accepts a limit in minutes that does not rise, unless its expiry may skip a phase: then the shorter
// limit is the weaker rule. before and after are the limits of absent members.
func (c *ruleCompare) timeLimit(before, after float64) judge {
	if c.skips() {
		return nil
	}
	return func(b, a ojson.Value) bool {
		x, okBefore := numberOr(b, before)
		y, okAfter := numberOr(a, after)
		return okBefore && okAfter && y <= x
	}
}

// perPhase returns the limit of phases that set none.
func perPhase(cfg *Config) float64 {
	if t := cfg.Timeouts; t != nil && t.PerPhase != nil {
		return *t.PerPhase
	}
	return math.Inf(1)
}

// skips reports whether a phase may be left because its time is up.
func (c *ruleCompare) skips() bool {
	for _, cfg := range []*Config{c.before, c.after} {
		for _, r := range cfg.Routing.All() {
			if r.TimeoutAction == TimeoutSkipPhase {
				return true
			}
		}
	}
	return false
}

func (c *ruleCompare) timeouts(at string, b, a ojson.Value, both bool) {
	if !both {
		// Without this member no limit applies, not even those of routing.
		c.value(at, b, a, func(before, _ ojson.Value) bool { return before == nil && !c.skips() })
		return
	}
	c.object(at, b, a, members{
		"per_turn_minutes":  notHigher(math.Inf(1)),
		"per_phase_minutes": c.timeLimit(math.Inf(1), math.Inf(1)),
		"per_run_minutes":   notHigher(math.Inf(1)),
		"action":            ranked(TimeoutEscalate, TimeoutWarn, TimeoutEscalate),
	})
}

// approval compares the ways past a gate without a person. Fewer ways are stricter; between two sets of rules that
// both approve, neither counts as the stricter one.
func (c *ruleCompare) approval(at string, b, a ojson.Value, both bool) {
	policy := c.after.ApprovalPolicy
	if !both {
		c.value(at, b, a, func(_, after ojson.Value) bool {
			o, _ := asObject(after)
			return policy == nil || onlyKeys(o, "phase_transitions", "run_completion") &&
				!approvesPhase(policy) && !approvesCompletion(policy)
		})
		return
	}
	c.object(at, b, a, members{
		"phase_transitions": func(_, _ ojson.Value) bool { return !approvesPhase(policy) },
		"run_completion":    func(_, _ ojson.Value) bool { return !approvesCompletion(policy) },
	})
}

func approvesPhase(p *ApprovalPolicy) bool {
	return p.HasPhaseTransitions && (p.Default == ActionAutoApprove ||
		slices.ContainsFunc(p.Rules, func(r ApprovalRule) bool { return r.Action == ActionAutoApprove }))
}

func approvesCompletion(p *ApprovalPolicy) bool {
	return p.RunCompletion != nil && p.RunCompletion.Action == ActionAutoApprove
}

// policyAsStrict compares one acceptance policy.
func policyAsStrict(before, after ojson.Value) bool {
	b, a := before.(*ojson.Object), after.(*ojson.Object)
	sub := &ruleCompare{}
	sub.object("", without(b, []string{"params", "scope"}), without(a, []string{"params", "scope"}), members{
		"message": func(_, _ ojson.Value) bool { return true }, // the text shown when the policy is broken
		"action":  func(before, _ ojson.Value) bool { return before == "warn" },
	})
	limit := notHigher(math.Inf(1))
	sub.object("/params", b.Value("params"), a.Value("params"), members{
		"limit":     limit,
		"limit_usd": limit,
		"allowed":   narrowed,
	})
	sub.object("/scope", b.Value("scope"), a.Value("scope"), members{
		"phases": scoped,
		"roles":  scoped,
	})
	return len(Weakening(sub.out)) == 0
}

// hooks compares the lifecycle hooks, phase by phase and name by name. An added hook can only refuse more.
func (c *ruleCompare) hooks(at string, b, a ojson.Value) {
	before, okBefore := asObject(b)
	after, okAfter := asObject(a)
	if !okBefore || !okAfter {
		c.value(at, b, a, nil)
		return
	}
	for _, phase := range ojson.UnionKeys(after, before) {
		vb, inBefore := before.Get(phase)
		va, inAfter := after.Get(phase)
		found := len(c.out)
		c.keyed(ojson.Member(at, phase), vb, va, "name", true, hookAsStrict)
		if len(c.out) == found && inBefore != inAfter {
			c.note(ojson.Member(at, phase), vb, va, false) // an empty list
		}
	}
}

func hookAsStrict(before, after ojson.Value) bool {
	sub := &ruleCompare{}
	sub.object("", before, after, members{"mode": ranked("", "advisory", "blocking")})
	return len(Weakening(sub.out)) == 0
}

// kit compares the decoded artifacts of each phase: templates, defaults and overrides are other ways to write the
// same demands.
func (c *ruleCompare) kit(at string, b, a ojson.Value) {
	if ojson.Equal(b, a) {
		return
	}
	strict := kitMembersKnown(a) && kitMembersKnown(b)
	for phase, demands := range c.before.WorkflowKit.Phases.All() {
		strict = strict && artifactsAsStrict(demands, c.after.WorkflowKit.Phases.Value(phase))
	}
	c.note(at, b, a, !strict)
}

// kitMembersKnown reports whether this version knows every member of a workflow kit.
func kitMembersKnown(v ojson.Value) bool {
	kit, ok := asObject(v)
	if !ok || !onlyKeys(kit, "phases") {
		return false
	}
	for _, p := range kit.Object("phases").All() {
		phase, ok := p.(*ojson.Object)
		if !ok || !onlyKeys(phase, "template", "artifacts") {
			return false
		}
		for _, artifact := range phase.Objects("artifacts") {
			if !onlyKeys(artifact, "path", "semantics", "semantics_config", "owned_by", "required") {
				return false
			}
		}
	}
	return true
}

func onlyKeys(o *ojson.Object, allowed ...string) bool { return containsAll(allowed, o.Keys()) }

func artifactsAsStrict(before, after []Artifact) bool {
	for _, b := range before {
		i := slices.IndexFunc(after, func(a Artifact) bool { return a.Path == b.Path })
		if i < 0 {
			return false
		}
		a := after[i]
		sameConfig := b.SemanticsConfig == nil || ojson.Equal(b.SemanticsConfig, a.SemanticsConfig) ||
			b.Semantics == SemanticsSectionCheck && containsAll(a.RequiredSections, b.RequiredSections)
		if b.Required && !a.Required || b.OwnedBy != "" && a.OwnedBy != b.OwnedBy ||
			b.Semantics != "" && a.Semantics != b.Semantics || !sameConfig {
			return false
		}
	}
	return true
}
