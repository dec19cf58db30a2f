// Why recorded operations had their outcomes (docs/whatif.md#explain).

package lookback

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Explanation explains a turn, a gate, an operation or a refusal.
type Explanation struct {
	Kind   string // turn, gate, operation, refusal
	Of     string
	Run    string
	Chains []*verdict.Chain // oldest first
	// Skipped counts other operations about it that cannot be replayed: another tool's, or of
	// another rule set.
	Skipped int
}

// Object returns the explanation as JSON: {kind, of, run_id, chains, not_judged}.
func (e *Explanation) Object() *ojson.Object {
	list := ojson.List(e.Chains, (*verdict.Chain).Object)
	return ojson.NewObject("kind", e.Kind, "of", e.Of, "run_id", e.Run, "chains", list, "not_judged", e.Skipped)
}

// Explain says why something had its outcome: of is a turn, a gate, an operation (its commit, or
// the beginning of it) or the code of a refusal; run "" is the run of this work tree. Nothing is
// written.
//
// Errors: not_found when the run does not know the name; no_run; those of the record.
func Explain(ctx context.Context, r *runner.Runner, run, of string) (*Explanation, error) {
	ops, err := r.Record().Chain(ctx, run, "")
	if err != nil {
		if chain, nerr := r.Record().Refusal(of); nerr == nil && chain != nil {
			return &Explanation{Kind: "refusal", Of: of, Run: chain.Run, Chains: []*verdict.Chain{chain}}, nil
		}
		return nil, err
	}
	return ExplainIn(ctx, r, ops, of)
}

// ExplainIn is Explain in a chain that has been read (Record.Chain).
func ExplainIn(ctx context.Context, r *runner.Runner, ops []chain.OpInfo, of string) (*Explanation, error) {
	out := &Explanation{Of: of, Run: ops[0].Run}
	switch {
	case slices.ContainsFunc(ops, func(op chain.OpInfo) bool { return op.Turn == of }):
		out.Kind = "turn"
		return out, explainAll(ctx, r, ops, out, func(op *chain.OpInfo) bool { return op.Turn == of })
	case slices.ContainsFunc(ops, func(op chain.OpInfo) bool { return called(&op, of) }):
		out.Kind = "operation"
		return out, explainAll(ctx, r, ops, out, func(op *chain.OpInfo) bool { return called(op, of) })
	}
	for _, kind := range []string{"gate", "refusal"} {
		err := explainNewest(ctx, r, ops, out, func(c *verdict.Chain) bool {
			if kind == "gate" {
				return JudgesGate(c, of)
			}
			return c.Code == of
		})
		if err != nil {
			return nil, err
		}
		if len(out.Chains) > 0 {
			out.Kind = kind
			break
		}
	}
	noted, err := r.Record().Refusal(of)
	if err != nil {
		return nil, err
	}
	if noted != nil && (len(out.Chains) == 0 || out.Kind == "refusal" && noted.At > out.Chains[0].At) {
		out.Kind, out.Chains = "refusal", []*verdict.Chain{noted}
	}
	if len(out.Chains) == 0 {
		return nil, &wire.Error{Code: wire.CodeNotFound, Field: of,
			Message: "Run " + out.Run + " has no turn, judged gate, operation or refusal " + wire.Quoted(of) + ".",
			Hint:    "git agentxchain log"}
	}
	return out, nil
}

// called reports whether name is the operation's commit or a prefix of it that log prints, now or before the operation
// was decided again after those of another machine.
func called(op *chain.OpInfo, name string) bool {
	return len(name) >= 4 && (strings.HasPrefix(string(op.Op), name) || strings.HasPrefix(string(op.Origin), name))
}

// JudgesGate reports whether the chain evaluated or decided on the gate.
func JudgesGate(c *verdict.Chain, gate string) bool {
	for l := range c.All() {
		switch l.Rule {
		case verdict.RuleGate, verdict.RulePeople, verdict.RuleApproval:
			if l.Subject == gate {
				return true
			}
		}
	}
	return false
}

// explainAll judges the operations that want lists.
func explainAll(
	ctx context.Context,
	r *runner.Runner,
	ops []chain.OpInfo,
	out *Explanation,
	want func(*chain.OpInfo) bool,
) error {
	for i := range ops {
		if !want(&ops[i]) {
			continue
		}
		chain, err := chainAt(ctx, r, ops, i)
		if err != nil {
			return err
		}
		if chain == nil {
			out.Skipped++
			continue
		}
		out.Chains = append(out.Chains, chain)
	}
	return nil
}

// explainNewest finds the newest operation with a wanted chain.
func explainNewest(
	ctx context.Context,
	r *runner.Runner,
	ops []chain.OpInfo,
	out *Explanation,
	want func(*verdict.Chain) bool,
) error {
	for i, op := range slices.Backward(ops) {
		switch op.Name {
		case protocol.OpAccept, "approve_transition", "approve_completion", "deny_gate", "reject_turn", "block",
			"escalate":
		default:
			continue // no gate is judged there, and no refusal recorded
		}
		chain, err := chainAt(ctx, r, ops, i)
		if err != nil {
			return err
		}
		if chain != nil && want(chain) {
			out.Chains = []*verdict.Chain{chain}
			return nil
		}
	}
	return nil
}

// chainAt judges ops[i] as it was judged; nil for one that cannot be replayed. ops is a chain from
// its beginning (Record.Chain).
func chainAt(ctx context.Context, r *runner.Runner, ops []chain.OpInfo, i int) (*verdict.Chain, error) {
	op, err := chain.OneOp(ctx, r.Record().Repository(), ops, i)
	if err != nil {
		return nil, err
	}
	d := past(op).Explain()
	if d == nil {
		return nil, nil
	}
	data, err := chain.ConfigBytes(ctx, r.Record().Repository(), op.ConfigID)
	if err != nil {
		return nil, err
	}
	whatif.Locate(d.Chain, data)
	return d.Chain, nil
}
