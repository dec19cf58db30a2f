// Recorded operations judged again: why they had their outcomes, and what another configuration
// would have changed (docs/whatif.md).

package lookback

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// OtherConfig is the configuration to judge recorded operations by.
type OtherConfig struct {
	Document []byte      // agentxchain.json; nil: the one each operation was decided under
	Name     string      // of the file with Document, for messages
	Set      []SetMember // members set in it
	NoHooks  bool        // hooks are left out; else a recorded answer counts when the hook is still configured
}

// SetMember is one member of a configuration with its value.
type SetMember struct {
	Path  string // config.SetMember
	Value ojson.Value
}

// recordedConfig reports that nothing of the configuration is changed.
func (o *OtherConfig) recordedConfig() bool {
	return o.Document == nil && len(o.Set) == 0 && !o.NoHooks
}

// Over returns the configuration, made from the one that an operation was decided under.
//
// Errors: invalid_json and invalid_config of the document, invalid_argument of a path.
func (o *OtherConfig) Over(recorded []byte) (*config.Config, []byte, error) {
	data := recorded
	if o.Document != nil {
		data = o.Document
	}
	if len(o.Set) > 0 {
		doc, err := ojson.DecodeObject(data)
		if err != nil {
			return nil, nil, &wire.Error{
				Code:    wire.CodeInvalidJSON,
				Field:   wire.ConfigPath,
				Message: "The configuration is not a JSON object: " + err.Error() + ".",
			}
		}
		for _, s := range o.Set {
			next, refusal := config.SetMember(doc, s.Path, s.Value)
			if refusal != nil {
				return nil, nil, refusal
			}
			doc = next
		}
		data = ojson.Pretty(doc)
	}
	cfg, problems, err := config.Decode(data)
	if refusal := config.Refusal(problems); err == nil && refusal != nil {
		err = refusal
	}
	if err != nil {
		return nil, nil, o.blame(err)
	}
	return cfg, data, nil
}

// blame adds to an error of the configuration where to correct it.
func (o *OtherConfig) blame(err error) error {
	var e *wire.Error
	switch errors.As(err, &e); {
	case e == nil:
	case o.Name != "":
		e.Message = strings.ReplaceAll(e.Message, wire.ConfigPath, o.Name)
		e.Hint = "correct " + o.Name
		if len(o.Set) > 0 {
			e.Hint += ", or what --set says"
		}
	case len(o.Set) > 0:
		e.Message = strings.ReplaceAll(e.Message, wire.ConfigPath, "the configuration that --set makes")
		e.Hint = "correct what --set says"
	}
	return err
}

// others makes the other configuration once for each recorded one.
type others struct {
	r    *runner.Runner
	ctx  context.Context
	opt  *OtherConfig
	mu   sync.Mutex
	made map[object.OID]*otherConfig
}

type otherConfig struct {
	was    *config.Config
	cfg    *config.Config
	change *protocol.Change
	data   []byte
	err    error
}

func (o *others) of(op *chain.RecordedOp) *otherConfig {
	o.mu.Lock()
	defer o.mu.Unlock()
	if have := o.made[op.ConfigID]; have != nil {
		return have
	}
	out := &otherConfig{was: op.Config}
	var recorded []byte
	if recorded, out.err = chain.ConfigBytes(o.ctx, o.r.Record().Repository(), op.ConfigID); out.err == nil {
		out.cfg, out.data, out.err = o.opt.Over(recorded)
	}
	if out.err == nil {
		out.change = protocol.Between(out.was, out.cfg)
	}
	o.made[op.ConfigID] = out
	return out
}

// WhatIf judges the operations of a run again under another configuration, each from the recorded
// state before it; run "" is the one of this work tree. Nothing is written.
//
// Errors: those of OtherConfig.Over; no_run; object_missing and others of the record.
func WhatIf(ctx context.Context, r *runner.Runner, run string, opt *OtherConfig) (*whatif.Report, error) {
	o := &others{r: r, ctx: ctx, opt: opt, made: make(map[object.OID]*otherConfig)}
	type judged struct {
		*whatif.Compared
		by *otherConfig
	}
	var mu sync.Mutex
	var back []judged // newest first
	_, tip, err := r.Record().Newest(ctx, run)
	if err != nil {
		return nil, err
	}
	ops, err := chain.EachOpBack(ctx, r.Record().Repository(), tip,
		func(i int, op *chain.RecordedOp) (*protocol.Transition, error) {
			other := o.of(op)
			if other.err != nil {
				return nil, other.err
			}
			c := past(op).UnderChange(other.change, !opt.NoHooks)
			var next *protocol.Transition
			if c.Was != nil {
				next = c.Was.Transition
				c.Forget() // a long run's states and chains are not kept
			}
			mu.Lock()
			defer mu.Unlock()
			if i >= len(back) {
				back = append(back, make([]judged, i+1-len(back))...)
			}
			back[i] = judged{c, other}
			return next, nil
		})
	if err != nil {
		return nil, err
	}
	lines := make(map[*otherConfig]map[string]int)
	out := make([]*whatif.Compared, 0, len(back))
	for _, j := range slices.Backward(back) {
		if len(j.Differences) > 0 {
			if lines[j.by] == nil {
				lines[j.by] = ojson.Lines(j.by.data)
			}
			for k := range j.Differences {
				j.Differences[k].Line = whatif.LineOf(lines[j.by], j.Differences[k].Config)
			}
		}
		out = append(out, j.Compared)
	}
	if len(ops) > 0 {
		run = ops[0].Run
	}
	report := whatif.NewReport(run, out)
	for _, other := range o.made {
		report.Hooks(other.was, other.cfg)
	}
	return report, nil
}

func past(op *chain.RecordedOp) *whatif.Past {
	return &whatif.Past{Op: string(op.Op), Record: op.Record, Before: op.Before}
}
