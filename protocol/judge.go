// Judge decides on an operation as Apply does and returns the rules that led to the decision
// (docs/spec/verdicts.md).

package protocol

import (
	"cmp"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Decided is the outcome of an operation and the reasons for it.
type Decided struct {
	Transition *change.Transition // nil when Refusal is set
	Refusal    *wire.Error        // of an operation that leaves no trace; a recorded refusal is Transition.Failure
	Chain      *verdict.Chain
}

// Failure returns the refusal, recorded or not; nil when the operation was granted.
func (j *Decided) Failure() *wire.Error {
	if j.Refusal != nil {
		return j.Refusal
	}
	return j.Transition.Failure
}

// Judge applies the operation and says which rules were asked. It yields the same state, index and refusal as
// Apply: the chain is written beside the decision, which never reads it. Judge leaves out what Apply writes into
// ledgers and documents, which halves the work.
func Judge(snap *change.Snapshot, op Operation, env change.Env) *Decided {
	root := &verdict.Step{}
	out := &Decided{Chain: &verdict.Chain{
		Kind:  op.Name(),
		Actor: env.Actor.Name,
		Run:   snap.State.Run(),
		Phase: snap.State.Phase,
	}}
	t, refusal := apply(snap, op, env, root)
	out.Transition, out.Refusal = t, refusal
	c := out.Chain
	c.At = wire.FormatTime(env.Now.UTC().Truncate(time.Millisecond))
	c.Outcome, c.Status, c.Next = verdict.Granted, string(snap.State.Status), snap.State.Phase
	if t != nil {
		c.Run, c.Turn, c.Role = cmp.Or(t.State.Run(), c.Run), t.Turn, t.Role
		c.Status, c.Next = string(t.State.Status), t.State.Phase
	}
	if f := out.Failure(); f != nil {
		c.Outcome, c.Code, c.Message = verdict.Refused, f.Code, f.Message
		if !refuses(root.Steps) {
			root.Add(verdict.Step{Rule: "operation." + op.Name(), Verdict: verdict.Fail, Code: f.Code, Why: f.Message,
				Spec: SpecOfCode(f.Code)})
		}
	}
	if len(root.Steps) == 0 {
		root.Add(verdict.Step{Rule: "operation." + op.Name(), Verdict: verdict.Pass, Spec: specOfOperation(op.Name())})
	}
	c.Steps = root.Steps
	return out
}

// refuses reports whether one of the steps accounts for a refusal.
func refuses(steps []*verdict.Step) bool {
	return slices.ContainsFunc(steps, func(s *verdict.Step) bool {
		return s.Verdict == verdict.Fail || s.Verdict == verdict.Unknown
	})
}
