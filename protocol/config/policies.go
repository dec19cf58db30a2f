// Acceptance policies (docs/spec/configuration.md#policies, docs/spec/gates.md#policies).

package config

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Rules of acceptance policies.
const (
	RuleMaxTurnsPerPhase          = "max_turns_per_phase"
	RuleMaxTotalTurns             = "max_total_turns"
	RuleMaxConsecutiveSameRole    = "max_consecutive_same_role"
	RuleMaxCostPerTurn            = "max_cost_per_turn"
	RuleRequireStatus             = "require_status"
	RuleRequireReproducibleVerify = "require_reproducible_verification"
)

func (d *decoder) policies() {
	root := d.section(d.cfg.Raw, "", ProblemPolicy, "policies")
	list, _ := root.array("policies")
	seen := map[string]bool{}
	for s := range root.items("policies", list, "params", "scope", "message") {
		d.cfg.Policies = append(d.cfg.Policies, s.policy(seen))
	}
}

func (s section) policy(seen map[string]bool) Policy {
	p := Policy{ID: s.text("id", true)}
	switch {
	case p.ID == "":
	case !isName(p.ID):
		s.d.add(s.code, s.at("id"), p.ID,
			"%s must start with a lowercase letter and consist of lowercase letters, digits, - and _, not %s",
			s.at("id"), ojson.Shown(p.ID))
	case seen[p.ID]:
		s.d.add(s.code, s.at("id"), p.ID, "%s repeats the policy id %s", s.at("id"), ojson.Shown(p.ID))
	default:
		seen[p.ID] = true
	}
	p.Rule = s.enum("rule", true, "", RuleMaxTurnsPerPhase, RuleMaxTotalTurns, RuleMaxConsecutiveSameRole,
		RuleMaxCostPerTurn, RuleRequireStatus, RuleRequireReproducibleVerify)
	p.Action = s.enum("action", true, "", "block", "warn", "escalate")
	// A blank text is allowed: it replaces nothing.
	if v, ok := s.value("message"); ok {
		if p.Message, ok = v.(string); !ok {
			s.fail("message", "a string", v)
		}
	}
	s.policyParams(&p)
	scope := s.object("scope")
	p.Phases = scope.texts("phases")
	p.Roles = scope.texts("roles")
	// A scope that names nothing existing would silently switch the policy off.
	for i, phase := range p.Phases {
		if s.d.cfg.Routing.Len() > 0 && !s.d.cfg.Routing.Has(phase) {
			scope.undeclaredPhase(fmt.Sprintf("phases[%d]", i), phase)
		}
	}
	for i, role := range p.Roles {
		if !s.d.cfg.Roles.Has(role) {
			scope.undeclaredRole(fmt.Sprintf("roles[%d]", i), role)
		}
	}
	return p
}

func (s section) policyParams(p *Policy) {
	params := s.object("params")
	number := func(key, want string, accept func(float64) bool) float64 {
		if !params.o.Has(key) {
			params.missing(key, want)
		} else if f := params.number(key, want, accept); f != nil {
			return *f
		}
		return 0
	}
	switch p.Rule {
	case RuleMaxTurnsPerPhase, RuleMaxTotalTurns, RuleMaxConsecutiveSameRole:
		p.Limit = number("limit", "a number of at least 1", func(f float64) bool { return f >= 1 })
	case RuleMaxCostPerTurn:
		p.LimitUSD = number("limit_usd", "a number greater than 0 (US dollars)", func(f float64) bool { return f > 0 })
	case RuleRequireStatus:
		statuses := []string{wire.ResultCompleted, wire.ResultBlocked, wire.ResultNeedsHuman, wire.ResultFailed}
		v, ok := params.value("allowed")
		list, isArray := v.([]any)
		if !ok {
			params.missing("allowed", "a non-empty array of turn statuses")
		} else if !isArray || len(list) == 0 {
			params.fail("allowed", "a non-empty array of turn statuses", v)
		}
		for i, v := range list {
			if t, ok := v.(string); ok && slices.Contains(statuses, t) {
				p.Allowed = append(p.Allowed, t)
			} else {
				params.fail(fmt.Sprintf("allowed[%d]", i), oneOf(statuses), v)
			}
		}
	}
}
