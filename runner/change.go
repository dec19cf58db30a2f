// The steps of every change to a run: plan, decide, commit, tell.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
)

// Done is the outcome of a change to a run.
type Done struct {
	Outcome
	Run        string
	Op         object.OID // the commit of the last operation
	Transition *protocol.Transition
	State      *run.State
	Notices    []string // what was repaired or absorbed on the way

	made []*protocol.Transition // everything committed, in order
	news *news                  // what to notify about; nil for nothing
}

// resultOf returns what the operation of a change resulted in, nil when it was refused or there was nothing to do.
func resultOf[T any](done *Done, err error) (out T) {
	if err == nil && done.Transition != nil {
		out, _ = done.Transition.Result.(T)
	}
	return out
}

// step plans one operation under the lock: it looks at the run and at the work tree, runs the hooks
// that come before, and says what it wants of the engine. Without a plan there is nothing to do.
type step func(ctx context.Context, c *change) (*plan, error)

// plan is an operation for the engine to decide on, with its bundle.
type plan struct {
	op     protocol.Operation               // nil for nothing to do
	bundle bundler                          // makes the dispatch bundle to commit with it; nil for none
	hold   func(*protocol.Transition) error // a reason not to commit what the engine decided; nil for none
}

// change is one operation in progress, from planning to notification.
type change struct {
	r    *Runner
	tx   *gitstore.Tx
	view *gitstore.View
	env  protocol.Env

	tree *gitstatus.Status // nil until looked at
	// still says that nothing but the run's own files changes between the look at the work tree and
	// the end of the operation: no program is started that may write other files.
	still bool
	hid   *gitstatus.Hidden // like tree
	pulls observe.Pulls     // what was pulled, once that was looked up
	pre   *ahead            // git's answers from before the change began

	hooks  *ophooks.Session      // nil when no lifecycle hooks are configured
	stop   *ophooks.Stop         // what follows from a hook's no
	asIs   []protocol.Overruling // hooks whose no a person has overruled
	notice string                // about hooks that could not run, for the person

	then *protocol.Snapshot // the run when the command began, where the remote decides; nil else

	signed *consent.Signed // the person's signature, when nothing else is wanted; nil

	lease *lease.Hold // the lease that the change is made under; nil for none
}

// do takes the steps of every change, one commit each and all under one lock:
//
//	plan    the step says what it wants of the engine; the hooks that come before are run
//	decide  the engine decides, once; what it decided is prepared for writing
//	commit  one ref moves
//	tell    hooks that come after; once the lock is released webhooks and the remote
//
// The error of a recorded refusal (a failed acceptance) is returned after its commit. Done is never
// nil.
func (r *Runner) do(ctx context.Context, purpose string, steps ...step) (*Done, error) {
	done := &Done{}
	err := r.settleLeft(ctx)
	if err == nil {
		err = r.decided(ctx, purpose, done, steps)
	}
	r.pushAfter(ctx, done)
	r.notify(ctx, done)
	return done, done.settle(err)
}

// locked carries out steps under the lock and returns how many were completed.
func (r *Runner) locked(ctx context.Context, purpose string, done *Done, then *protocol.Snapshot,
	steps []step) (taken int, err error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	tx, pre, err := r.begin(ctx, purpose)
	if err != nil {
		return taken, err
	}
	defer func() { _ = tx.Close() }()
	r.after, r.afterTree = nil, nil
	var h *ophooks.Session
	for taken = range steps {
		c := &change{
			r:    r,
			tx:   tx,
			view: tx.View(),
			env:  protocol.Env{Now: r.Now(), Seed: r.opt.Seed(), Actor: pre.actor},
			pre:  pre,
			then: then,
		}
		if err := r.ready(ctx, c.view); err != nil {
			return taken, err
		}
		done.Notices = c.view.Notices
		done.State = c.view.State
		done.Run = c.view.Run
		done.Op = c.view.Op
		if err := c.governable(); err != nil {
			return taken, err
		}
		if err := c.unconfirmed(purpose); err != nil {
			return taken, err
		}
		if h == nil {
			h = r.hooking(tx, c.view.Config)
		}
		c.hooks = h
		if err := c.carryOut(ctx, steps[taken], done); err != nil {
			return taken, err
		}
		then = nil // later steps follow from this one
	}
	return len(steps), nil
}

// carryOut takes one step from its plan to the hooks that come after.
func (c *change) carryOut(ctx context.Context, s step, done *Done) error {
	p, err := s(ctx, c)
	done.Notices = c.view.Notices
	if err == nil && p != nil && p.op != nil {
		err = c.through(ctx, p, done)
	}
	if c.hooks != nil {
		err = c.conclude(ctx, done, err)
	}
	return unasked(c.view, err)
}

func (c *change) through(ctx context.Context, p *plan, done *Done) error {
	ch, err := c.decide(ctx, p, done)
	if err != nil {
		return err
	}
	if err := c.commit(ctx, ch, done); err != nil {
		return err
	}
	t := ch.Transition
	done.Transition = t
	if c.hooks != nil && c.stop == nil {
		c.afterCommit(ctx, t)
	}
	if t.Failure != nil { // a recorded failure is the error of the command
		t.Failure.Explain = t.Turn
		return t.Failure
	}
	return nil
}

// decide has the engine decide on a plan and prepares the decision for writing.
func (c *change) decide(ctx context.Context, p *plan, done *Done) (gitstore.Change, error) {
	ch := gitstore.Change{}
	if err := c.sameAsThen(p.op); err != nil {
		return ch, err
	}
	if p.bundle == nil { // else it is recorded with the answers of after_dispatch
		if err := c.keep(ctx, done); err != nil {
			return ch, err
		}
	}
	t, refusal := c.ask(c.view.Snapshot(), p.op)
	if c.signed != nil && (refusal == nil || refusal.Code == wire.CodeApprovalsMissing) {
		return ch, c.signed // a statement that would be refused here would not help its recipient either
	}
	if refusal != nil {
		return ch, refusal
	}
	if p.hold != nil {
		if err := p.hold(t); err != nil {
			return ch, err
		}
	}
	ch.Record = protocol.NewRecord(p.op, c.env)
	if p.bundle != nil && t.Failure == nil {
		var err error
		if ch.Bundles, err = p.bundle(ctx, t); err != nil {
			return ch, err
		}
		if t, err = c.again(ctx, p.op, t, done); err != nil {
			return ch, err
		}
	}
	c.index(t)
	ch.Transition = t
	return ch, nil
}

// commit records a change and notes where the run is now.
func (c *change) commit(ctx context.Context, ch gitstore.Change, done *Done) error {
	c.pre.asked = false
	t := ch.Transition
	var err error
	if ch.Refs, err = c.lease.Refs(ctx, c.r.store, c.view.State, t, c.env.Now); err != nil {
		return err
	}
	out, err := c.tx.Commit(ctx, ch)
	if err != nil {
		return c.lease.Lost(ctx, c.r.store, c.r.Now(), err)
	}
	c.lease.Moved(ch.Refs)
	done.Op, done.Run, done.State = out.Op, out.Run, t.State
	done.made = append(done.made, t)
	c.note(t, done)
	c.r.after = &gitstore.View{Run: out.Run, Op: out.Op, Config: c.view.Config, Index: t.Index}
	c.r.after.Open = c.tx.Open()
	c.r.after.State, _ = run.RepairState(t.State, c.view.Config)
	if c.still {
		c.r.afterTree = c.tree
	}
	return nil
}

// governable refuses to change a run under an invalid configuration: its rules cannot be told from
// its mistakes.
func (c *change) governable() error {
	if p := c.view.ConfigProblems; len(p) > 0 {
		return config.Refusal(p)
	}
	return nil
}
