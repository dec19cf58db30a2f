// Finding the recorded operation at which a verdict changed.

package lookback

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// BisectOptions says what to look for, and where.
type BisectOptions struct {
	Of     string // a gate, a rule, a policy, or the code of a refusal
	IsCode bool   // Of is the code of a refusal
	Run    string // "" is the run of this work tree
	Good   string // an operation at which the verdict was good; "" begins at the first
	Bad    string // one at which it was not; "" ends at the newest
	Other  OtherConfig
}

// BisectResult is the result of a bisection.
type BisectResult struct {
	Run      string
	Searched int // operations that could have judged it
	Probes   int // operations judged
	Skipped  int // operations between the two about which nothing is known
	Found    bool
	Good     bool           // the verdict before; the one after is the opposite
	Before   *verdict.Chain // newest with the verdict before; without a turn the first that judged
	After    *verdict.Chain // oldest with the opposite; without a turn the last that judged
	Changed  []string       // differences between the two, in sentences
}

// Bisect finds the operation at which a verdict changed. Each probe judges one recorded operation
// from the recorded state before it; nothing is written.
//
// Errors: not_found when no operation judges it, or a bound is not an operation of the run; those
// of OtherConfig.Over and of the record.
func Bisect(ctx context.Context, r *runner.Runner, opt *BisectOptions) (*BisectResult, error) {
	ops, err := r.Record().Chain(ctx, opt.Run, "")
	if err != nil {
		return nil, err
	}
	b := &bisecting{
		r:      r,
		ctx:    ctx,
		ops:    ops,
		opt:    opt,
		others: &others{r: r, ctx: ctx, opt: &opt.Other, made: make(map[object.OID]*otherConfig)},
		probes: make(map[int]*probe),
	}
	for i, op := range ops {
		if judgesKind(opt, op.Name) {
			b.at = append(b.at, i)
		}
	}
	low, high := 0, len(b.at)-1
	if opt.Good != "" {
		if low, err = b.position(opt.Good); err != nil {
			return nil, err
		}
	}
	if opt.Bad != "" {
		if high, err = b.position(opt.Bad); err != nil {
			return nil, err
		}
	}
	if low > high {
		low, high = high, low
	}
	out := &BisectResult{Run: ops[0].Run, Searched: high - low + 1}
	if len(b.at) == 0 {
		return nil, b.unjudged()
	}
	turned, err := whatif.Bisect(low, high, b.ask)
	if err != nil {
		return nil, err
	}
	out.Probes, out.Skipped, out.Found = turned.Probes, turned.Skipped, turned.Found
	if turned.Before < 0 {
		return nil, b.unjudged()
	}
	before, after := b.probes[turned.Before], b.probes[turned.After]
	out.Before, out.After, out.Good = before.chain, after.chain, before.says.Good
	if out.Found {
		out.Changed = changed(before, after)
	}
	return out, nil
}

func (b *bisecting) unjudged() error {
	return &wire.Error{Code: wire.CodeNotFound, Field: b.opt.Of,
		Message: fmt.Sprintf("No operation of the run judges %s.", wire.Quoted(b.opt.Of)),
		Hint:    "git agentxchain explain TURN --all names the rules that were asked"}
}

type bisecting struct {
	r      *runner.Runner
	ctx    context.Context
	ops    []chain.OpInfo
	at     []int // operations that could judge it
	opt    *BisectOptions
	others *others
	probes map[int]*probe
}

type probe struct {
	chain    *verdict.Chain
	says     whatif.Standing
	config   *config.Config
	evidence map[string]string // path -> digest, "" for a missing file
}

// judgesKind reports whether an operation of the kind can judge what is looked for.
func judgesKind(opt *BisectOptions, kind string) bool {
	switch {
	case opt.IsCode:
		return kind != protocol.OpExternal
	case slices.Contains([]string{verdict.RuleRole, verdict.RuleCapacity, verdict.RuleClean, verdict.RuleBudgetTurn},
		opt.Of):
		return kind == "assign_turn"
	case opt.Of == verdict.RuleAttempts:
		return kind == "reject_turn"
	case strings.HasPrefix(opt.Of, verdict.RuleHook):
		return kind == "record_audit"
	}
	return slices.Contains([]string{protocol.OpAccept, "approve_transition", "approve_completion", "record_audit"},
		kind)
}

// position returns the last candidate at or before the named operation.
func (b *bisecting) position(name string) (int, error) {
	i := slices.IndexFunc(b.ops, func(op chain.OpInfo) bool { return called(&op, name) })
	if i < 0 {
		hint := "git agentxchain log"
		if op, err := chain.Show(b.ctx, b.r.Record().Repository(), name); err == nil {
			hint = "it is one of run " + op.Run + ", which is searched with --run " + wire.ShellWord(op.Run)
		}
		return 0, &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   name,
			Message: fmt.Sprintf("%s is not an operation of run %s.", wire.Quoted(name), b.ops[0].Run),
			Hint:    hint,
		}
	}
	at, found := slices.BinarySearch(b.at, i)
	if !found && at > 0 {
		at--
	}
	return at, nil
}

func (b *bisecting) ask(position int) (whatif.Standing, error) {
	op, err := chain.OneOp(b.ctx, b.r.Record().Repository(), b.ops, b.at[position])
	if err != nil {
		return whatif.Standing{}, err
	}
	other := b.others.of(op)
	if other.err != nil {
		return whatif.Standing{}, other.err
	}
	p := &probe{config: other.cfg, evidence: make(map[string]string)}
	if b.opt.Other.recordedConfig() {
		if d := past(op).Explain(); d != nil {
			p.chain = d.Chain
		}
	} else {
		c := past(op).UnderChange(other.change, !b.opt.Other.NoHooks)
		if p.chain = c.After; p.chain == nil {
			p.chain = c.Before
		}
	}
	if p.chain != nil {
		whatif.Locate(p.chain, other.data)
		for _, f := range protocol.GateEvidence(op.Record.Op) {
			p.evidence[f.Path] = ""
			if f.Blob != nil {
				p.evidence[f.Path] = f.Blob.Digest
			}
		}
	}
	p.says = whatif.Stands(p.chain, b.opt.Of, b.opt.IsCode)
	b.probes[position] = p
	return p.says, nil
}

// changed returns the differences between two probes.
func changed(a, b *probe) []string {
	var out []string
	if b.says.Step != nil && b.says.Step.Why != "" {
		out = append(out, "now: "+b.says.Step.Why)
	}
	if a.says.Step != nil && a.says.Step.Why != "" {
		out = append(out, "before: "+a.says.Step.Why)
	}
	if a.chain.Phase != b.chain.Phase {
		out = append(out, fmt.Sprintf("phase: %s, then %s", a.chain.Phase, b.chain.Phase))
	}
	for _, c := range config.RuleChanges(a.config, b.config) {
		out = append(out, fmt.Sprintf("configuration: %s: %s, then %s", c.Pointer, cmp.Or(c.Before, "nothing"),
			cmp.Or(c.After, "nothing")))
	}
	for _, path := range slices.Sorted(maps.Keys(b.evidence)) {
		if was, ok := a.evidence[path]; ok && was != b.evidence[path] {
			out = append(out, fmt.Sprintf("evidence: %s: %s, then %s", path, digestText(was),
				digestText(b.evidence[path])))
		}
	}
	return out
}

func digestText(d string) string {
	if d == "" {
		return "not there"
	}
	return "sha256:" + d[:min(12, len(d))]
}
