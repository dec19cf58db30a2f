// What a command with lifecycle hooks records beside its own operation: every
// answer, and the block of a run that a hook has stopped.

package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// keep records the answers of the hooks that have run since the last time, in an
// operation of their own. They are kept whatever becomes of the operation they
// were asked about, so an interruption does not get in the way either.
func (c *change) keep(ctx context.Context, done *Done) error {
	h := c.hooks
	if h == nil || len(h.rows) == 0 || c.view.State.Run() == "" {
		return nil
	}
	rows := h.rows
	h.rows = nil
	faults.Point("hooks.answers.before")
	err := c.extra(ctx, &protocol.Audit{TurnID: h.turn, Rows: rows}, done)
	faults.Point("hooks.answers.after")
	return err
}

// extra commits an operation beside that of the step and moves the change on to
// where the run is then.
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

// again decides once more after the hooks of a dispatch were recorded, from the
// same environment and so with the same outcome.
func (c *change) again(ctx context.Context, op protocol.Operation, t *protocol.Transition, done *Done) (*protocol.Transition, error) {
	if c.hooks == nil || len(c.hooks.rows) == 0 {
		return t, nil
	}
	if err := c.keep(ctx, done); err != nil {
		return nil, err
	}
	next, refusal := c.decide(c.view.Snapshot(), op)
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

// conclude ends a step: what hooks answered is recorded, and a run that one has
// stopped is blocked. err is the error of the step so far.
func (c *change) conclude(ctx context.Context, done *Done, err error) error {
	serr := c.tx.SettleBundle(context.WithoutCancel(ctx))
	if kerr := c.keep(ctx, done); kerr != nil || serr != nil {
		if err == nil && kerr != nil && done.Transition != nil && git.CodeOf(kerr) != git.CodeWorkBehind {
			// An agent that reads that it failed would ask for it again.
			kerr = &wire.Error{Code: CodeHookPostCommit, Field: "hooks", Hint: "remove the cause; git agentxchain status says how the run stands",
				Message: fmt.Sprintf("The operation is recorded, and what its hooks answered could not be: %v", kerr)}
		}
		return errors.Join(err, serr, kerr)
	}
	if n := c.hooks.notice; n != "" {
		done.Notices = append(slices.Clip(done.Notices), n)
		c.hooks.notice = ""
	}
	if c.stop == nil {
		return err
	}
	stop := c.stop
	c.stop = nil
	if stop.block != nil {
		if berr := c.extra(ctx, stop.block, done); berr != nil {
			var refusal *wire.Error
			if !errors.As(berr, &refusal) {
				return errors.Join(stop.err, berr)
			}
			// The run is over, or blocked on something else that a person is asked
			// about already; what the hook did is in the audit ledger all the same.
			stop.err.Message = fmt.Sprintf("%s The run stays %s.", stop.err.Message, c.view.State.Status)
		}
	}
	return stop.err
}

// afterCommit runs the hooks of what has just been recorded: after_acceptance,
// then on_escalation when the operation has blocked the run. Neither can undo it.
func (c *change) afterCommit(ctx context.Context, t *protocol.Transition, done *Done) {
	if !c.hooks.has("after_acceptance", "on_escalation") {
		return
	}
	before := c.view.State
	c.view = c.tx.View()
	if res, ok := t.Result.(*protocol.AcceptResult); ok && t.Failure == nil {
		c.accepted(ctx, res)
	}
	if escalated(before, t.State) {
		c.escalation(ctx, t.State)
	}
}

func (c *change) accepted(ctx context.Context, res *protocol.AcceptResult) {
	s, turn := c.view.State, res.Turn
	seq, _ := res.Entry.Int("accepted_sequence")
	err := c.hook(ctx, hooks.Call{Phase: "after_acceptance", TurnID: turn.TurnID, Payload: ojson.NewObject(
		"turn_id", turn.TurnID, "role_id", turn.AssignedRole, "history_entry_index", seq-1, "accepted_integration_ref", s.AcceptedIntegrationRef,
		"decisions_count", len(res.Entry.Array("decisions")), "objections_count", len(res.Entry.Array("objections")),
		"run_status", string(s.Status), "phase", s.Phase)})
	if err == nil {
		return
	}
	const prefix = "Turn accepted, but post-commit hook handling failed: "
	if c.stop == nil {
		// Not the hook's answer but what guards the run's files has failed.
		c.stop = &stop{err: &wire.Error{Code: CodeHookPostCommit, Field: "hooks.after_acceptance", Message: err.Error(), Hint: "git agentxchain fsck"}}
		if ctx.Err() == nil {
			c.stop.block = &protocol.Block{BlockedOn: "hook:after_acceptance:unknown", Category: "hook_block", TypedReason: "hook_block", Owner: run.OwnerHuman,
				Action: run.RecoveryAction("hook_block", "hook:after_acceptance:unknown", ""), Detail: err.Error()}
		}
	}
	c.stop.err.Message = prefix + c.stop.err.Message
}

// escalated reports whether an operation has blocked the run on something that
// on_escalation hooks are told: anything but a hook, or one would call the next.
func escalated(before, after *run.State) bool {
	r := after.BlockedReason
	if after.Status != wire.StatusBlocked || r == nil || r.Category == "hook_block" || r.Category == "hook_tamper" {
		return false
	}
	was := before.BlockedReason
	return before.Status != wire.StatusBlocked || was == nil || was.BlockedAt != r.BlockedAt || was.Category != r.Category
}

// escalation tells the on_escalation hooks. Whatever they answer, the block
// stands; and where they are not trusted it stands without them.
func (c *change) escalation(ctx context.Context, s *run.State) {
	const phase = "on_escalation"
	if !c.hooks.has(phase) {
		return
	}
	if err := c.willRun(ctx, phase); err != nil {
		c.hooks.notice = "hooks of on_escalation were not run: they are not trusted on this machine (git agentxchain hooks trust)"
		return
	}
	r := s.BlockedReason
	var turnID, role any
	attempt, id := 0, ""
	if r.TurnID != nil {
		id = *r.TurnID
		turnID = id
		if t, ok := s.ActiveTurns.Get(id); ok {
			role, attempt = t.AssignedRole, t.Attempt
		} else if row := c.view.Index.LastRow; row.String("turn_id") == id {
			role = row.String("role")
			attempt, _ = row.Int("attempt")
		}
	}
	var detail any
	if r.Recovery.Detail != nil {
		detail = *r.Recovery.Detail
	}
	_, err := c.hooks.call(ctx, hooks.Call{Phase: phase, RunID: s.Run(), TurnID: id, Payload: ojson.NewObject(
		"blocked_reason", r.Category, "recovery_action", r.Recovery.RecoveryAction, "failed_turn_id", turnID, "failed_role", role,
		"attempt_count", attempt, "last_error", detail, "run_id", s.Run())})
	if err != nil {
		c.hooks.notice = "hooks of on_escalation could not be run: " + text.Brief(err.Error(), 300)
	}
}
