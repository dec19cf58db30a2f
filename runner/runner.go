// The Runner: its options, opening a project, and the way that every change takes.

package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// InterfaceVersion is the version of the declared runner interface
// (docs/runner.md).
const InterfaceVersion = "0.3"

// Options configures a Runner. The zero value is what the command line uses.
type Options struct {
	Now      func() time.Time    // clock; time.Now when nil
	Seed     func() string       // 32 hex digits for each operation's ids; random when nil
	LockWait time.Duration       // how long to wait for another operation; 10 s when 0, none when negative
	Getenv   func(string) string // environment for identity and dispatch markers; os.Getenv when nil
	Terminal bool                // a person at a terminal is asking
	Trust    bool                // use hooks and webhooks without stored trust; not inside a dispatched turn

	// Background is told of a remote that an operation is to be pushed to
	// (agentxchain.sync=auto); it must not wait. Nothing is pushed when nil.
	Background func(dir, remote string)

	// Correlation is told to hooks, so that what they do can be found again; not when "".
	Correlation string

	fresh bool // a missing state is an idle project, whatever is recorded elsewhere
}

// Runner drives the runs of one governed project. Its operations may be asked for
// from several goroutines, as a run loop and its dispatches do; they are carried
// out one after another.
type Runner struct {
	store *gitstore.Store

	serial *sync.Mutex // the store is not safe for concurrent use

	opt   Options
	after *gitstore.View // what the newest operation of this Runner led to, or nil
	// afterTree is the work tree as that operation saw it, nil when it may have changed
	// since or was asked for already.
	afterTree *git.WorktreeStatus
}

// Open finds the governed project around dir. Errors carry the store's codes:
// not_a_git_repository, bare_repository, dubious_ownership, not_a_project.
func Open(ctx context.Context, dir string, opt Options) (*Runner, error) {
	var r *Runner
	s, err := gitstore.Open(ctx, dir, gitstore.Options{
		AtWork:  func() gitstore.AtWork { return r.atWork() },
		Publish: func(ctx context.Context, _ *git.Repository, m decision.Move) error { return r.publish(ctx, m) },
	})
	if err != nil {
		return nil, err
	}
	r = New(s, opt)
	return r, nil
}

// New wraps an opened store.
func New(s *gitstore.Store, opt Options) *Runner {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Seed == nil {
		opt.Seed = randomSeed
	}
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	if opt.LockWait == 0 {
		opt.LockWait = 10 * time.Second
	}
	return &Runner{store: s, opt: opt, serial: new(sync.Mutex)}
}

// Store is the run store this runner drives. It is for what looks at a run or brings it here without being one of
// its operations: the rooms below runner/, the coordinator, which decides for several repositories at once, restore,
// which puts a run into a store before there is one to drive, and tests. Commands and servers ask the Runner (a test
// in internal/cli sees to it): what is done to the store itself waits for no operation that is under way here.
func (r *Runner) Store() *gitstore.Store { return r.store }

// Alone hands the store to f while no operation of this Runner is under way.
func (r *Runner) Alone(f func(*gitstore.Store) error) error {
	r.serial.Lock()
	defer r.serial.Unlock()
	return f(r.store)
}

// Close releases what the runner has opened.
func (r *Runner) Close() error { return r.store.Close() }

func randomSeed() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it crashes the process instead
	return hex.EncodeToString(b[:])
}

// Now is the operation's time, cut to the precision of the wire so that a
// replayed record has the very same one.
func (r *Runner) Now() time.Time { return r.opt.Now().UTC().Truncate(time.Millisecond) }

// Done is what a change to a run led to.
type Done struct {
	Outcome
	Run        string
	Op         git.OID // the commit of the last operation
	Transition *protocol.Transition
	State      *run.State
	Notices    []string // what was repaired or absorbed on the way

	made []*protocol.Transition // everything committed, in order
	news *news                  // what there is to tell of it; nil for nothing
}

// step is one operation under the lock: look at the run, decide what to ask the
// engine for. A nil operation means there is nothing to do.
type step func(ctx context.Context, c *change) (protocol.Operation, error)

// change is what a step works with.
type change struct {
	r    *Runner
	tx   *gitstore.Tx
	view *gitstore.View
	env  protocol.Env
	tree *git.WorktreeStatus // nil until looked at
	// still says that nothing but the run's own files changes between the look at the work
	// tree and the end of the operation: no program is started that may write others.
	still bool
	hid   *git.Hidden   // likewise
	pulls observe.Pulls // what was pulled, once it was looked for
	pre   *ahead        // what git was asked before there was a change
	// bundles builds the dispatch bundles to commit with the transition.
	bundles func(context.Context, *protocol.Transition) (map[string]map[string][]byte, error)
	hooks   *ophooks.Session                 // nil when no lifecycle hooks are configured
	stop    *ophooks.Stop                    // what a hook that said no leads to
	hold    func(*protocol.Transition) error // a reason not to commit what the engine decided; nil for none
	cross   *CrossRepo
	lease   *lease.Hold       // the lease the change is made under; nil for none
	given   *turnfiles.Staged // a result that came with the request, for the turn of the lease

	notice    string                // of hooks that could not be asked, for the person
	asIs      []protocol.Overruling // hooks whose no a person has overruled
	resealing bool                  // the bundle of a dispatched turn is made anew; its hooks were asked then
	warnings  []string              // of the bundle dispatched
}

// do runs steps under one lock, one commit each, and tells of them once the lock
// is released. The error of a recorded refusal (a failed acceptance) is returned
// after its commit. Done is never nil.
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

func (r *Runner) locked(ctx context.Context, purpose string, done *Done, steps []step) error {
	r.serial.Lock()
	defer r.serial.Unlock()
	tx, pre, err := r.begin(ctx, purpose)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Close() }()
	r.after, r.afterTree = nil, nil
	var h *ophooks.Session
	for _, s := range steps {
		c := &change{
			r:    r,
			tx:   tx,
			view: tx.View(),
			env:  protocol.Env{Now: r.Now(), Seed: r.opt.Seed(), Actor: pre.actor},
			pre:  pre,
		}
		if err := r.ready(ctx, c.view, c.r.opt.fresh); err != nil {
			return err
		}
		done.Notices = c.view.Notices
		done.State = c.view.State
		done.Run = c.view.Run
		done.Op = c.view.Op
		if err := c.governable(); err != nil {
			return err
		}
		if err := c.unconfirmed(purpose); err != nil {
			return err
		}
		if h == nil {
			h = r.hooking(tx, c.view.Config)
		}
		c.hooks = h
		said := len(c.view.Notices)
		op, err := s(ctx, c)
		done.Notices = append(slices.Clip(done.Notices), c.view.Notices[said:]...)
		if err == nil && op != nil {
			err = c.carryOut(ctx, op, done)
		}
		if h != nil {
			err = c.conclude(ctx, done, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// carryOut lets the engine decide on an operation and commits what it decided.
func (c *change) carryOut(ctx context.Context, op protocol.Operation, done *Done) error {
	r := c.r
	if c.bundles == nil { // else together with the answers of after_dispatch
		if err := c.keep(ctx, done); err != nil {
			return err
		}
	}
	t, refusal := c.decide(c.view.Snapshot(), op)
	if refusal != nil {
		return refusal
	}
	if c.hold != nil {
		if err := c.hold(t); err != nil {
			return err
		}
	}
	ch := gitstore.Change{Record: protocol.NewRecord(op, c.env)}
	if c.bundles != nil && t.Failure == nil {
		var err error
		if ch.Bundles, err = c.bundles(ctx, t); err != nil {
			return err
		}
		if t, err = c.again(ctx, op, t, done); err != nil {
			return err
		}
	}
	c.index(t)
	ch.Transition = t
	if err := c.commit(ctx, ch, done); err != nil {
		return err
	}
	done.Transition = t
	if id := turnOf(t); id != "" && c.bundles != nil && t.Failure == nil {
		// So that a person can save the result where the prompt says without making
		// directories first. The turn is dispatched; failing here would say otherwise.
		_ = r.store.MakeDir(path.Dir(wire.StagingPath(id)))
	}
	if c.hooks != nil && c.stop == nil {
		c.afterCommit(ctx, t, done)
	}
	if t.Failure != nil {
		t.Failure.Explain = t.Turn
		return t.Failure
	}
	return nil
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
	c.tell(t, done)
	c.r.after = &gitstore.View{Run: out.Run, Op: out.Op, Config: c.view.Config, Index: t.Index}
	c.r.after.Open = c.tx.Open()
	c.r.after.State, _ = run.RepairState(t.State, c.view.Config)
	if c.still {
		c.r.afterTree = c.tree
	}
	return nil
}

// View reads the run without changing anything. A project without a state is
// idle; one whose runs are recorded in git but not in this work tree is an
// error (no_run) that says how to bring one here.
func (r *Runner) View(ctx context.Context) (*gitstore.View, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	v, err := r.store.View(ctx)
	if err != nil {
		return nil, err
	}
	v.Notices = append(v.Notices, r.TamperNotices()...)
	return v, r.ready(ctx, v, false)
}

// ready gives a view without a state the idle one it stands for.
func (r *Runner) ready(ctx context.Context, v *gitstore.View, fresh bool) error {
	if n := RulesNotice(v); n != "" && !slices.Contains(v.Notices, n) {
		v.Notices = append(v.Notices, n)
	}
	if v.State != nil {
		if v.Index == nil {
			v.Index = &run.Index{Run: v.State.Run()}
		}
		return nil
	}
	if !fresh {
		refs, err := chain.Runs(ctx, r.store.Repository())
		if err != nil {
			return err
		}
		runs := make([]string, len(refs))
		for i, ref := range refs {
			runs[i] = strings.TrimPrefix(ref.Name, git.RunRefPrefix)
		}
		if len(runs) > 0 {
			newest := runs[0]
			if tips, err := chain.RunTips(ctx, r.store.Repository(), 1); err == nil && len(tips) > 0 {
				newest = tips[0].Run
			}
			return &wire.Error{
				Code:    chain.CodeNoRun,
				Field:   string(wire.DocState),
				Details: ojson.NewObject("runs", runs),
				Message: fmt.Sprintf("This work tree holds no run; recorded in git: %s.", wire.ListSome(runs, 3)),
				Hint: "git agentxchain repair --from-ref " + newest +
					" brings it here; git agentxchain assign --new-run starts another",
			}
		}
		if err := r.elsewhere(ctx, v); err != nil {
			return err
		}
	}
	// Read back as if it had been on disk: what an operation records of it and what
	// a replay makes of that record must not differ in so much as a member's order.
	st, err := run.DecodeState(run.FreshState(v.Config, "").Encode())
	if err != nil {
		return err
	}
	v.State, _ = run.RepairState(st, v.Config)
	v.Index = &run.Index{}
	return nil
}

// governable refuses to change a run under a configuration that does not hold: its
// rules cannot be told from its mistakes.
func (c *change) governable() error {
	if p := c.view.ConfigProblems; len(p) > 0 {
		return config.Refusal(p)
	}
	return nil
}
