// The Runner: its options, opening a project, and reading its run. The changes to a run are in change.go.

package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
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

	// Background is told about a remote that an operation should be pushed to
	// (agentxchain.sync=auto); it must not wait. Nothing is pushed when nil.
	Background func(dir, remote string)

	// Correlation is passed to hooks, so that what they do can be traced; not when "".
	Correlation string

	fresh bool // a missing state is an idle project, whatever is recorded elsewhere
}

// Runner drives the runs of one governed project. Several goroutines may call its operations, as a
// run loop and its dispatches do; they are carried out one after another.
type Runner struct {
	store *gitstore.Store

	serial *sync.Mutex // the store is not safe for concurrent use

	opt   Options
	after *gitstore.View // the run after the newest operation of this Runner, or nil
	// afterTree is the work tree as that operation saw it, nil when it may have changed since or
	// was used already.
	afterTree *gitstatus.Status
	// filesAhead is how far the clock of the work tree's file system is ahead of this machine's, as Drive found it.
	filesAhead time.Duration
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

// Alone passes the store to f while no operation of this Runner is under way: f may change a work tree or bring a run
// here without being an operation. Readers use Record.
func (r *Runner) Alone(f func(*gitstore.Store) error) error {
	r.serial.Lock()
	defer r.serial.Unlock()
	return f(r.store)
}

// Afresh returns a Runner that begins another run on purpose: it does not refuse because a run is recorded here or on
// a remote. It shares what r has opened.
func (r *Runner) Afresh() *Runner {
	fresh := *r
	fresh.opt.fresh = true
	return &fresh
}

// Close releases what the runner has opened.
func (r *Runner) Close() error { return r.store.Close() }

func randomSeed() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it crashes the process instead
	return hex.EncodeToString(b[:])
}

// Now returns the operation's time, cut to the precision of the wire so that a replayed record has
// exactly the same one.
func (r *Runner) Now() time.Time { return r.opt.Now().UTC().Truncate(time.Millisecond) }

// View reads the run without changing anything. A project without a state is idle; one whose runs
// are recorded in git but not in this work tree is an error (no_run) that says how to bring one
// here.
func (r *Runner) View(ctx context.Context) (*gitstore.View, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	v, err := r.store.View(ctx)
	if err != nil {
		return nil, err
	}
	v.Notices = append(v.Notices, r.TamperNotices()...)
	return v, r.ready(ctx, v)
}

// ready gives a view without a state the idle state.
func (r *Runner) ready(ctx context.Context, v *gitstore.View) error {
	if n := RulesNotice(v); n != "" && !slices.Contains(v.Notices, n) {
		v.Notices = append(v.Notices, n)
	}
	if what, command := gitstore.LeftOut(ctx, r.store.Repository()); what != "" {
		n := "the sparse checkout leaves out " + what + ", which gates and turns need; " + command + " brings it"
		if !slices.Contains(v.Notices, n) {
			v.Notices = append(v.Notices, n)
		}
	}
	if v.State != nil && v.Index == nil {
		v.Index = &run.Index{Run: v.State.Run()}
	}
	if !r.opt.fresh && (v.State == nil || v.State.Status == wire.StatusIdle && v.State.Run() == "") {
		if err := r.notBegun(ctx, v); err != nil {
			return err
		}
	}
	if v.State != nil {
		return nil
	}
	// Read back as if it had been on disk: what an operation records of it and what a replay makes
	// of that record must be identical, down to the order of members.
	st, err := run.DecodeState(run.FreshState(v.Config, "").Encode())
	if err != nil {
		return err
	}
	v.State, _ = run.RepairState(st, v.Config)
	v.Index = &run.Index{}
	return nil
}

// notBegun refuses to treat a work tree without a run as a project without one.
func (r *Runner) notBegun(ctx context.Context, v *gitstore.View) error {
	refs, err := chain.Runs(ctx, r.store.Repository())
	if err != nil || v.State != nil && len(refs) > 0 { // those of other work trees, of a service for example
		return err
	}
	newest := ""
	if len(refs) > 0 {
		if refs, newest, err = r.store.OwnRuns(ctx); err != nil {
			return err
		}
	}
	if len(refs) == 0 {
		return r.elsewhere(ctx, v)
	}
	runs := make([]string, len(refs))
	for i, ref := range refs {
		runs[i] = strings.TrimPrefix(ref.Name, git.RunRefPrefix)
	}
	return &wire.Error{
		Code:    chain.CodeNoRun,
		Field:   string(wire.DocState),
		Details: ojson.NewObject("runs", runs),
		Message: fmt.Sprintf("This work tree holds no run; recorded in git: %s.", wire.ListSome(runs, 3)),
		Hint:    bringsHere("repair --from-ref " + newest),
	}
}

// bringsHere returns the hint where the project has a run that this work tree is not in.
func bringsHere(command string) string {
	return "git agentxchain " + command + " brings it here; " + status.NewRun + " starts another"
}
