// One recorded operation under two configurations.

package whatif

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
)

// Past is a recorded operation with the state it was decided on.
type Past struct {
	Op     string // commit
	Record *protocol.Record
	Before *protocol.Snapshot // nil when Record.Op is: it cannot be applied again
}

// Explain judges the operation as it was judged; nil for an operation that cannot be applied again.
func (p *Past) Explain() *protocol.Decided {
	if p.Record.Op == nil || p.Before == nil {
		return nil
	}
	d := protocol.Judge(p.Before, p.Record.Op, p.Record.Env)
	d.Chain.Op = p.Op
	return d
}

// NotAsked replaces the verdict of a rule that a configuration does not ask.
const NotAsked = "not asked"

// Difference is a verdict that another configuration changes.
type Difference struct {
	Op      string `json:"op"`
	Kind    string `json:"kind"` // wire name of the operation
	At      string `json:"at"`
	Turn    string `json:"turn,omitempty"`
	Role    string `json:"role,omitempty"`
	Gate    string `json:"gate,omitempty"`
	Rule    string `json:"rule"`
	Subject string `json:"subject,omitempty"`
	Before  string `json:"before"` // a verdict, or NotAsked; for the outcome: granted or refused
	After   string `json:"after"`
	Code    string `json:"code,omitempty"`
	Why     string `json:"why"`
	Spec    string `json:"spec,omitempty"`
	Config  string `json:"config,omitempty"`
	Line    int    `json:"line,omitempty"`    // line of Config in the other configuration
	Outcome bool   `json:"outcome,omitempty"` // the outcome of the operation as a whole
	Refuses bool   `json:"refuses,omitempty"` // work that was accepted would have been refused
}

// Compared is one operation under both configurations. Without differences it had the same outcome for the same
// reasons.
type Compared struct {
	Before, After *verdict.Chain
	Was           *protocol.Decided // under the recorded configuration
	Differences   []Difference
	NotJudged     string // why it was not judged under the other configuration, "" when it was

	open bool // evidence that was never recorded leaves the rest open
}

// Forget drops what a report does not need: the steps of both chains and the state.
func (c *Compared) Forget() {
	if b := c.Before; b != nil {
		c.Before = &verdict.Chain{Kind: b.Kind, Outcome: b.Outcome, Turn: b.Turn}
	}
	c.After, c.Was = nil, nil
}

// Under judges the operation under another configuration, from the recorded state before it. hooks says whether
// recorded answers of hooks count; otherwise hooks count as absent.
func (p *Past) Under(other *config.Config, hooks bool) *Compared {
	var change *protocol.Change
	if p.Before != nil {
		change = protocol.Between(p.Before.Config, other)
	}
	return p.UnderChange(change, hooks)
}

// UnderChange is like Under, with a comparison of the configurations that is made once for all operations of one.
func (p *Past) UnderChange(change *protocol.Change, hooks bool) *Compared {
	was := p.Explain()
	if was == nil {
		return &Compared{NotJudged: "it is another tool's, or of another rule set, and cannot be applied again"}
	}
	out := &Compared{Was: was, Before: was.Chain}
	switch p.Record.Op.(type) {
	case *protocol.AdoptConfig:
		out.NotJudged = "it is about the recorded configuration itself"
		return out
	case *protocol.Audit:
		out.hooks(change.Now, hooks)
		return out
	}
	now := protocol.Judge(change.Snapshot(p.Before), change.Operation(p.Record.Op), p.Record.Env)
	out.After = now.Chain
	out.After.Op = p.Op
	out.compare()
	return out
}

// addedHooks returns the hooks that only the second configuration has.
func addedHooks(was, now *config.Config) (names []string) {
	for phase := range now.Hooks.All() {
		for _, h := range now.Hooks.Objects(phase) {
			if name := h.String("name"); !hasHook(was, phase, name) {
				names = append(names, phase+" "+name)
			}
		}
	}
	return names
}

func hasHook(cfg *config.Config, phase, name string) bool {
	return slices.ContainsFunc(cfg.Hooks.Objects(phase), func(h *ojson.Object) bool {
		return h.String("name") == name
	})
}

// hooks compares recorded answers of hooks with what the other configuration would have asked: a hook that it lacks
// has no answer.
func (c *Compared) hooks(other *config.Config, recorded bool) {
	for _, s := range c.Before.Steps {
		phase, ok := strings.CutPrefix(s.Rule, verdict.RuleHook)
		if !ok || s.Verdict == verdict.Pass || recorded && hasHook(other, phase, s.Subject) {
			continue
		}
		c.add(Difference{
			Rule:    s.Rule,
			Subject: s.Subject,
			Before:  s.Verdict,
			After:   NotAsked,
			Why:     "the hook would not have been asked; what would have been decided then was never tried: " + s.Why,
			Spec:    s.Spec,
			Config:  s.Config,
		})
	}
}

func (c *Compared) add(d Difference) {
	b := c.Before
	d.Op, d.Kind, d.At, d.Turn, d.Role = b.Op, b.Kind, b.At, b.Turn, b.Role
	if c.After != nil && d.Turn == "" {
		d.Turn, d.Role = c.After.Turn, c.After.Role
	}
	for _, have := range c.Differences {
		have.Op, have.Kind, have.At, have.Turn, have.Role = d.Op, d.Kind, d.At, d.Turn, d.Role
		if have.Rule == d.Rule && have.Subject == d.Subject && have.Gate == d.Gate && have.Before == d.Before &&
			have.After == d.After {
			return
		}
	}
	c.Differences = append(c.Differences, d)
}
