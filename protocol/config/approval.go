// Approval policy: when a human gate may be passed without a person (docs/spec/configuration.md#approval-policy,
// docs/spec/gates.md#approval-policy).

package config

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// Actions of an approval policy.
const (
	ActionAutoApprove  = "auto_approve"
	ActionRequireHuman = "require_human"
)

func (d *decoder) approvalPolicy() {
	o := d.top("approval_policy", ProblemApprovalPolicy)
	if o == nil {
		return
	}
	s := d.section(o, "approval_policy", ProblemApprovalPolicy)
	ap := &ApprovalPolicy{}
	d.cfg.ApprovalPolicy = ap
	if t := s.object("phase_transitions"); t.o != nil {
		ap.HasPhaseTransitions = true
		ap.Default = t.enum("default", false, "", ActionAutoApprove, ActionRequireHuman)
		list, _ := t.array("rules")
		for r := range t.items("rules", list) {
			rule := r.approvalRule(true)
			rule.From = r.approvalPhase("from_phase")
			rule.To = r.approvalPhase("to_phase")
			ap.Rules = append(ap.Rules, rule)
		}
	}
	if c := s.object("run_completion"); c.o != nil {
		// Without an action there is no completion policy, and a person decides.
		rule := c.approvalRule(false)
		ap.RunCompletion = &rule
	}
}

// approvalRule reads action and conditions. An unreadable action stays "", which
// every reader must treat as require_human (docs/spec/results.md).
func (s section) approvalRule(actionRequired bool) ApprovalRule {
	rule := ApprovalRule{Raw: s.o, Action: s.enum("action", actionRequired, "", ActionAutoApprove, ActionRequireHuman)}
	w := s.object("when")
	if w.o == nil {
		if s.o.Has("when") {
			// Conditions that cannot be read must not vanish: the rule would approve more.
			rule.Action = ""
		}
		return rule
	}
	before := len(s.d.problems)
	when := &ApprovalWhen{
		GatePassed:        w.boolean("gate_passed", false),
		RolesParticipated: w.texts("roles_participated"),
		AllPhasesVisited:  w.boolean("all_phases_visited", false),
	}
	if w.o.Has("credentialed_gate") {
		v := w.boolean("credentialed_gate", true)
		when.CredentialedGate = &v
		if w.o.Bool("credentialed_gate") {
			s.d.add(s.code, w.at("credentialed_gate"), "true",
				"%s can only be false: a credentialed gate is never approved by policy", w.at("credentialed_gate"))
		}
	}
	rule.When = when
	if len(s.d.problems) > before {
		rule.Action = ""
	}
	return rule
}

func (s section) approvalPhase(key string) string {
	phase := s.text(key, false)
	if phase != "" && s.d.cfg.Routing.Len() > 0 && !s.d.cfg.Routing.Has(phase) {
		s.undeclaredPhase(key, phase)
	}
	return phase
}

func (s section) undeclaredPhase(key, phase string) {
	s.d.add(ProblemUndeclaredPhase, s.at(key), phase, "%s names the phase %s, which is not in routing", s.at(key),
		ojson.Shown(phase))
}
