// What a command with lifecycle hooks records besides its own operation: every answer, and the
// block of a run that a hook has stopped.

package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
)

// keep records the answers of the hooks that have run since the last time, in an operation of their
// own. They are kept whatever becomes of the operation they were asked about, so an interruption
// does not prevent it either.
func (c *change) keep(ctx context.Context, done *Done) error { return c.keepBy(ctx, done, c.extra) }

func (c *change) keepBy(ctx context.Context, done *Done,
	by func(context.Context, protocol.Operation, *Done) error,
) error {
	if !c.hooks.Waiting() || c.view.State.Run() == "" {
		return nil
	}
	turn, rows := c.hooks.Take()
	faults.Point("hooks.answers.before")
	err := by(ctx, &protocol.Audit{TurnID: turn, Rows: rows}, done)
	faults.Point("hooks.answers.after")
	return err
}

// extra commits an operation besides that of the step and continues the change from the run's new
// state.
func (c *change) extra(ctx context.Context, op protocol.Operation, done *Done) error {
	c.view = c.tx.View()
	env := protocol.Env{Now: c.r.Now(), Seed: c.r.opt.Seed(), Actor: c.env.Actor, Git: c.env.Git}
	t, refusal := protocol.Apply(c.view.Snapshot(), op, env)
	if refusal != nil {
		return refusal
	}
	ch := gitstore.Change{Record: protocol.NewRecord(op, env), Transition: t}
	if err := c.commit(context.WithoutCancel(ctx), ch, done); err != nil {
		return err
	}
	c.view = c.tx.View()
	return nil
}

// follow is extra for what comes after the step, and tries again when another work tree moved the run first.
func (c *change) follow(ctx context.Context, op protocol.Operation, done *Done) error {
	runID := c.view.State.Run()
	for try := 1; ; try++ {
		err := c.extra(ctx, op, done)
		if try == maxTries || fail.CodeOf(err) != fail.CodeRefMoved {
			return err
		}
		if aerr := c.tx.Again(context.WithoutCancel(ctx)); aerr != nil || c.tx.View().State.Run() != runID {
			return errors.Join(err, aerr)
		}
	}
}

// again decides once more after the hooks of a dispatch were recorded, from the
// same environment and so with the same outcome.
func (c *change) again(ctx context.Context, op protocol.Operation, t *protocol.Transition,
	done *Done) (*protocol.Transition, error) {
	if !c.hooks.Waiting() {
		return t, nil
	}
	if err := c.keep(ctx, done); err != nil {
		return nil, err
	}
	next, refusal := c.ask(c.view.Snapshot(), op)
	if refusal != nil {
		return nil, refusal
	}
	for doc, data := range t.Documents {
		if _, ok := next.Documents[doc]; !ok {
			next.Documents[doc] = data
		}
	}
	return next, nil
}

// conclude ends a step: it records the hooks' answers and blocks a run that a hook has stopped. err
// is the error of the step so far.
func (c *change) conclude(ctx context.Context, done *Done, err error) error {
	serr := c.tx.SettleBundle(context.WithoutCancel(ctx))
	if kerr := c.keepBy(ctx, done, c.follow); kerr != nil || serr != nil {
		if err == nil && kerr != nil && done.Transition != nil && fail.CodeOf(kerr) != fail.CodeWorkBehind {
			// An agent that reads that it failed would ask for it again.
			kerr = &wire.Error{
				Code:    CodeHookPostCommit,
				Field:   "hooks",
				Hint:    "remove the cause; git agentxchain status shows where the run is",
				Message: fmt.Sprintf("The operation is recorded, but the answers of its hooks could not be: %v", kerr),
			}
		}
		return errors.Join(err, serr, kerr)
	}
	if c.notice != "" {
		done.Notices = append(slices.Clip(done.Notices), c.notice)
	}
	if c.stop == nil {
		return err
	}
	stop := c.stop
	c.stop = nil
	if stop.Block != nil {
		if berr := c.follow(ctx, stop.Block, done); berr != nil {
			if _, ok := errors.AsType[*wire.Error](berr); !ok {
				return errors.Join(stop.Err, berr)
			}
			// The run is over, or blocked on something else that a person has been asked about
			// already; the audit ledger still has what the hook did.
			stop.Err.Message = fmt.Sprintf("%s The run stays %s.", stop.Err.Message, c.view.State.Status)
		}
	}
	return stop.Err
}

// afterCommit runs the hooks of what has just been recorded: after_acceptance,
// then on_escalation when the operation has blocked the run. Neither can undo it.
func (c *change) afterCommit(ctx context.Context, t *protocol.Transition) {
	if !c.hooks.Has("after_acceptance", "on_escalation") {
		return
	}
	before := c.view.State
	c.view = c.tx.View()
	if res, ok := t.Result.(*protocol.AcceptResult); ok && t.Failure == nil {
		c.accepted(ctx, res)
	}
	if ophooks.Escalated(before, t.State) {
		c.escalation(ctx, t.State)
	}
}

func (c *change) accepted(ctx context.Context, res *protocol.AcceptResult) {
	err := c.hook(ctx, ophooks.AfterAcceptance(c.view.State, res))
	if err == nil {
		return
	}
	const prefix = "Turn accepted, but post-commit hook handling failed: "
	if c.stop == nil {
		// It is not the hook's answer that failed but the guard of the run's files.
		c.stop = &ophooks.Stop{Err: &wire.Error{
			Code:    CodeHookPostCommit,
			Field:   "hooks.after_acceptance",
			Message: err.Error(),
			Hint:    "git agentxchain fsck",
		}}
		if ctx.Err() == nil {
			c.stop.Block = &protocol.Block{
				BlockedOn:   "hook:after_acceptance:unknown",
				Category:    "hook_block",
				TypedReason: "hook_block",
				Owner:       run.OwnerHuman,
				Action:      run.RecoveryAction("hook_block", "hook:after_acceptance:unknown", ""),
				Detail:      err.Error(),
			}
		}
	}
	c.stop.Err.Message = prefix + c.stop.Err.Message
}

// escalation runs the on_escalation hooks. Whatever they answer, the block stands; it also stands
// when they are not trusted and do not run.
func (c *change) escalation(ctx context.Context, s *run.State) {
	const phase = "on_escalation"
	if !c.hooks.Has(phase) {
		return
	}
	if err := c.hooks.WillRun(ctx, phase); err != nil {
		c.notice = "hooks of on_escalation were not run: they are not trusted on this machine (git agentxchain hooks trust)"
		return
	}
	if _, err := c.hooks.Call(ctx, ophooks.OnEscalation(s, c.view.Index)); err != nil {
		c.notice = "hooks of on_escalation could not be run: " + text.Brief(err.Error(), 300)
	}
}
