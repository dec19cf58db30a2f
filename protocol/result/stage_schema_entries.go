// Stage A: decisions, objections and delegations (docs/spec/results.md#decisions).

package result

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func decisionCategories() []string {
	return []string{"implementation", "architecture", "scope", "process", "quality", "release"}
}

func isDecisionCategory(v ojson.Value) bool {
	s, ok := v.(string)
	return ok && slices.Contains(decisionCategories(), s)
}

func (s *schemaCheck) decision(at string, o *ojson.Object) {
	if !run.IsDecisionID(o.String("id")) {
		s.r.errorf(ProblemDecisionID, at+".id", "", "%s.id must be DEC- and a number, not %s", at,
			wire.Shown(o.Value("id")))
	}
	s.enum(at+".category", o.Value("category"), decisionCategories()...)
	s.text(at+".statement", o.Value("statement"))
	s.text(at+".rationale", o.Value("rationale"))
	if o.Has("durability") {
		s.enum(at+".durability", o.Value("durability"), "run", "repo")
	}
	if !o.Has("overrides") {
		return
	}
	overrides := o.String("overrides")
	switch {
	case !run.IsDecisionID(overrides):
		s.r.errorf(ProblemOverrideID, at+".overrides", "", "%s.overrides must be DEC- and a number, not %s", at,
			wire.Shown(o.Value("overrides")))
	case SameDecision(overrides, o.String("id")):
		s.r.errorf(ProblemSelfOverride, at+".overrides", overrides, "%s overrides itself (%s)", at, overrides)
	}
}

// SameDecision compares two decision ids by number.
func SameDecision(a, b string) bool {
	n, hugeN, okN := run.DecisionNumber(a)
	m, hugeM, okM := run.DecisionNumber(b)
	return okN && okM && n == m && hugeN == hugeM
}

func (s *schemaCheck) objection(at string, o *ojson.Object) {
	if !isObjectionID(o.String("id")) {
		s.r.errorf(ProblemObjectionID, at+".id", "", "%s.id must be OBJ- and a number, not %s", at,
			wire.Shown(o.Value("id")))
	}
	s.enum(at+".severity", o.Value("severity"), "low", "medium", "high", "blocking")
	s.text(at+".statement", o.Value("statement"))
	if o.Has("status") {
		s.enum(at+".status", o.Value("status"), "raised", "acknowledged", "resolved", "escalated", "resolved_by_human",
			"resolved_by_director")
	}
}

func (s *schemaCheck) delegation(at string, o *ojson.Object) {
	if !wire.Numbered(o.String("id"), "del-", 3, 3) {
		s.r.errorf(ProblemDelegationID, at+".id", "", "%s.id must be del- and three digits, not %s", at,
			wire.Shown(o.Value("id")))
	}
	if v := o.Value("to_role"); !isRole(v) {
		s.r.errorf(ProblemRoleID, at+".to_role", "", "%s.to_role must consist of a-z, 0-9, _ and -, not %s", at,
			wire.Shown(v))
	}
	s.text(at+".charter", o.Value("charter"))
	s.contract(at+".acceptance_contract", o.Value("acceptance_contract"))
	if !o.Has("required_decision_ids") {
		return
	}
	field := at + ".required_decision_ids"
	ids, ok := o.Value("required_decision_ids").([]any)
	if !ok || len(ids) == 0 {
		s.r.errorf(ProblemType, field, "", "%s must be left out or name at least one decision", field)
		return
	}
	seen := &run.DecisionIDs{}
	for i, v := range ids {
		id, _ := v.(string)
		switch {
		case !run.IsDecisionID(id):
			s.r.errorf(ProblemRequiredID, indexed(field, i), "", "%s must be DEC- and a number, not %s",
				indexed(field, i), wire.Shown(v))
		case seen.Has(id):
			s.r.errorf(ProblemRequiredTwice, indexed(field, i), id, "%s names %s a second time", field, id)
		default:
			seen.Add(id)
		}
	}
}

// contract checks a non-empty array of strings that are not blank.
func (s *schemaCheck) contract(field string, v ojson.Value) {
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		s.r.errorf(ProblemType, field, "", "%s must be an array with at least one item", field)
		return
	}
	for i, item := range items {
		s.text(indexed(field, i), item)
	}
}
