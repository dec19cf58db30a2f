// The rules that an operation asks, recorded when a verdict is requested (docs/spec/verdicts.md).

package change

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Enter begins a rule with steps of its own; leave ends it with the rule's verdict. Without a trace both do
// nothing.
func (t *Draft) Enter(rule, subject, config string) (leave func(*wire.Error)) {
	outer := t.Trace
	if outer == nil {
		return func(*wire.Error) {}
	}
	step := outer.Add(verdict.Step{Rule: rule, Subject: subject, Spec: verdict.SpecOf(rule), Config: config})
	failed := t.Failure
	t.Trace = step
	return func(err *wire.Error) {
		t.Trace = outer
		if err == nil && t.Failure != failed {
			err = t.Failure
		}
		step.Sum()
		if err == nil {
			if step.Verdict == verdict.Fail {
				step.Verdict = verdict.Pass // checked, but it does not stop the operation
			}
			return
		}
		if step.Verdict != verdict.Unknown {
			step.Verdict = verdict.Fail
		}
		step.Code, step.Why = err.Code, err.Message
	}
}

// Rule records a rule without steps of its own and returns the refusal.
func (t *Draft) Rule(rule, subject, config string, err *wire.Error) *wire.Error {
	if t.Trace == nil {
		return err
	}
	step := verdict.Step{
		Rule:    rule,
		Subject: subject,
		Verdict: verdict.Pass,
		Spec:    verdict.SpecOf(rule),
		Config:  config,
	}
	if err != nil {
		step.Verdict, step.Code, step.Why = verdict.Fail, err.Code, err.Message
	}
	t.Trace.Add(step)
	return err
}

// Says records a rule that stops nothing by itself.
func (t *Draft) Says(rule, subject, config, said, why string) {
	t.Trace.Add(verdict.Step{
		Rule:    rule,
		Subject: subject,
		Verdict: said,
		Why:     why,
		Spec:    verdict.SpecOf(rule),
		Config:  config,
	})
}
