// Where two chains of verdicts about one operation differ.

package whatif

import (
	"cmp"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
)

// outcomeOf returns the outcome of a chain; a refusal that rests on what was never recorded is unknown.
func outcomeOf(c *verdict.Chain) string {
	if c.Outcome == verdict.Granted {
		return verdict.Granted
	}
	for _, v := range slices.Backward(c.Steps) {
		switch v.Verdict {
		case verdict.Unknown:
			return verdict.Unknown
		case verdict.Fail:
			return verdict.Refused
		}
	}
	return verdict.Refused
}

func (c *Compared) compare() {
	before, after := outcomeOf(c.Before), outcomeOf(c.After)
	c.open = c.After.Undecided() != nil && c.Before.Undecided() == nil
	if before != after || c.Before.Code != c.After.Code {
		c.outcome(before, after)
	}
	c.steps(c.Before.Steps, c.After.Steps, after != verdict.Granted, "")
	if c.Before.Next != c.After.Next && before == after && !c.open {
		c.add(Difference{
			Rule:    "run.phase",
			Before:  c.Before.Next,
			After:   c.After.Next,
			Why:     "the run would have been in another phase",
			Outcome: true,
			Spec:    verdict.SpecOf(verdict.RuleGate),
		})
	}
	if c.Before.Status != c.After.Status && before == after && !c.open {
		c.add(Difference{
			Rule:    "run.status",
			Before:  c.Before.Status,
			After:   c.After.Status,
			Why:     "the run would have had another status",
			Outcome: true,
			Spec:    "docs/spec/state.md#the-state",
		})
	}
}

// outcome adds the row about the outcome of the operation as a whole.
func (c *Compared) outcome(before, after string) {
	d := Difference{Before: before, After: after, Outcome: true, Rule: "operation." + c.After.Kind}
	chain, s := c.After, c.After.Decisive()
	if after == verdict.Unknown {
		s = c.After.Undecided()
	}
	if after == verdict.Granted {
		chain, s = c.Before, c.Before.Decisive()
	}
	d.Code, d.Why = chain.Code, chain.Message
	if s != nil {
		d.Rule, d.Subject, d.Spec, d.Config = s.Rule, s.Subject, s.Spec, s.Config
		d.Why = cmp.Or(s.Why, d.Why)
	}
	d.Refuses = before == verdict.Granted && after == verdict.Refused && accepts(c.Before.Kind)
	c.add(d)
}

// accepts reports whether operations of the kind accept work.
func accepts(kind string) bool {
	switch kind {
	case protocol.OpAccept, "approve_transition", "approve_completion":
		return true
	}
	return false
}

// steps compares the rules of one level by name and subject. cut says that the second chain ended early: the rules
// that it lacks were not reached.
func (c *Compared) steps(before, after []*verdict.Step, cut bool, gate string) {
	taken := make([]bool, len(after))
	match := func(s *verdict.Step) *verdict.Step {
		for i, a := range after {
			if !taken[i] && a.Rule == s.Rule && (a.Subject == s.Subject || subjectMoves(s.Rule)) {
				taken[i] = true
				return a
			}
		}
		return nil
	}
	for _, b := range before {
		a := match(b)
		if a == nil {
			if !cut && b.Verdict != verdict.Pass && !c.told(b) {
				c.step(b, nil, gate)
			}
			continue
		}
		c.step(b, a, gate)
	}
	for i, a := range after {
		if !taken[i] && a.Verdict != verdict.Pass {
			c.step(nil, a, gate)
		}
	}
}

// told reports whether the table already has the rule: a gate is evaluated before an acceptance and again after it,
// and a difference the first time is not reported a second time.
func (c *Compared) told(s *verdict.Step) bool {
	for i := range c.Differences {
		if d := &c.Differences[i]; d.Rule == s.Rule && d.Subject == s.Subject {
			return true
		}
	}
	return false
}

// subjectMoves reports whether a rule is asked once per operation, whatever it is about.
func subjectMoves(rule string) bool {
	switch rule {
	case verdict.RuleStatus, verdict.RuleGateVerify, verdict.RuleNonProgress, verdict.RuleRole, verdict.RuleBudgetTurn:
		return true
	}
	return false
}

// step compares one rule, which one of the chains may lack.
func (c *Compared) step(b, a *verdict.Step, gate string) {
	s := a
	if s == nil {
		s = b
	}
	switch s.Rule {
	case verdict.RuleGate:
		gate = s.Subject
	case verdict.RuleApproval, verdict.RuleNonProgress:
		if c.open {
			return // it follows from a gate with an unknown outcome
		}
	}
	var was, now []*verdict.Step
	said, says := NotAsked, NotAsked
	if b != nil {
		was, said = b.Steps, b.Verdict
	}
	if a != nil {
		now, says = a.Steps, a.Verdict
	}
	n := len(c.Differences)
	c.steps(was, now, false, gate)
	if said == says || len(c.Differences) > n && s.Rule != verdict.RuleGate {
		return
	}
	d := Difference{
		Gate:    gate,
		Rule:    s.Rule,
		Subject: s.Subject,
		Before:  said,
		After:   says,
		Spec:    s.Spec,
		Config:  s.Config,
		Code:    s.Code,
		Why:     s.Why,
	}
	if a != nil && a.Verdict == verdict.Pass && b != nil {
		d.Why = b.Why
	}
	d.Refuses = s.Rule == verdict.RuleGate && (said == verdict.Pass || said == verdict.Warn || said == verdict.Wait) &&
		says == verdict.Fail
	for i, have := range c.Differences {
		if have.Outcome && have.Rule == d.Rule && have.Subject == d.Subject {
			c.Differences[i].Gate = gate // already reported as the operation's outcome
			return
		}
	}
	c.add(d)
}
