// Lifecycle hooks of an operation: running them, and going on or not (docs/hooks.md#what-becomes-of-it).

package runner

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
)

// CodeHookPostCommit means that an operation is recorded, but the hooks after it could not be run. When hooks stop an
// operation the code is hook_blocked (the operation was refused and the run is as it was), hook_blocked_run or one of
// the tamper codes of package hooks.
const CodeHookPostCommit = "hook_post_commit_error"

// HooksRun is the outcome of RunHooks. OK means that the pipeline may go on.
type HooksRun struct {
	Outcome
	Result *HookOutcome
}

// RunHooks runs the hooks of a phase and records their answers. It is for callers that drive a
// phase themselves; AssignTurn, AcceptTurn, Approve and the others run their own hooks. Without
// hooks for the phase the outcome is OK and nothing is changed. A hook that says no is an answer
// and not a Go error: OK is then false and the code is hook_blocked, or that of a tampering hook
// (hook_state_tamper and so on). Errors: hooks_untrusted, hook_guard_failed, and the store's.
func (r *Runner) RunHooks(ctx context.Context, call HookCall) (*HooksRun, error) {
	out := &HooksRun{Result: &hooks.Outcome{OK: true}}
	_, err := r.do(ctx, "hooks", func(ctx context.Context, c *change) (*plan, error) {
		if err := c.hooks.WillRun(ctx, call.Phase); err != nil {
			return nil, err
		}
		if !c.hooks.Has(call.Phase) {
			return nil, nil
		}
		call.RunID = c.view.State.Run()
		got, err := c.hooks.Call(ctx, call)
		if got != nil {
			out.Result = got
		}
		return nil, err
	})
	if out.Outcome = OutcomeOf(err); err == nil {
		out.Outcome = outcomeOf(out.Result)
	}
	return out, err
}

// outcomeOf returns what a phase's answers mean for the operation that asked.
func outcomeOf(o *HookOutcome) Outcome {
	switch {
	case o.OK:
		return Outcome{OK: true}
	case o.Tamper != nil:
		return Outcome{Code: o.Tamper.Code, Error: o.Tamper.Message}
	case o.Blocker != nil:
		return Outcome{
			Code:  wire.CodeHookBlocked,
			Error: fmt.Sprintf("Hook %q said no: %s", o.Blocker.HookName, o.Blocker.Message),
		}
	}
	return Outcome{Code: wire.CodeHookBlocked, Error: "A hook said no."}
}

// hook runs a phase and says whether the operation may go on; when it may not, c.stop holds what
// follows and the error is that of the command.
func (c *change) hook(ctx context.Context, call hooks.Call) error {
	if !c.hooks.Has(call.Phase) {
		return nil
	}
	call.RunID = c.view.State.Run()
	out, err := c.hooks.Call(ctx, call)
	if err != nil || out == nil || out.OK {
		return err
	}
	c.stop = ophooks.Stopped(c.view.State, call, out)
	return c.stop.Err
}

// asItIs returns a function that reports whether a person has overruled a hook of the phase, for
// exactly these contents of a turn, or for the waiting gate when turn is "".
func (c *change) asItIs(turn, phase, content string) func(hook, message string) bool {
	s := c.view.State
	if len(s.Overruled) == 0 {
		return nil
	}
	return func(hook, message string) bool {
		o := protocol.HookOverruled(s, turn, phase, hook, ophooks.Said(phase, hook, message), content)
		if o != nil {
			c.asIs = append(c.asIs, protocol.Overruling{
				On:   o.On,
				Said: protocol.OverruleKey(ophooks.Said(phase, hook, message)),
			})
		}
		return o != nil
	}
}

// hooking returns the lifecycle hooks of a command.
func (r *Runner) hooking(tx *gitstore.Tx, cfg *config.Config) *ophooks.Session {
	m := ophooks.Machine{Store: r.store, Trust: r.trust(), Now: r.opt.Now, Correlation: r.opt.Correlation}
	return ophooks.Begin(m, tx, cfg)
}
