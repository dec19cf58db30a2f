// Carrying out one dispatched turn: everything around a runtime.

package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/tamper"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// DefaultLimit is how long a dispatch may take when nothing else limits it.
const DefaultLimit = 20 * time.Minute

// CodeTurnBusy means that another process carries out the turn.
const CodeTurnBusy = runner.CodeTurnBusy

// Options configures a Driver.
type Options struct {
	// New makes runtimes; usually builtin.New. Required.
	New func(*config.Runtime) (runtimes.Runtime, error)

	Limit   time.Duration       // of one dispatch, however much time the turn has left; none when 0
	Getenv  func(string) string // os.Getenv when nil
	Environ func() []string     // what agents inherit; os.Environ when nil
	Now     func() time.Time    // time.Now when nil

	// Activity is called for signs of life of every agent; safe for concurrent use.
	Activity func(turnID string, a runtimes.Activity)

	// Sole says that this process does nothing but drive turns: what agents leave behind becomes
	// its children, so that no way of detaching hides an agent's process (Linux). Do not set it in
	// a process that starts programs of its own in new sessions.
	Sole bool

	// Retries is how often a rate-limited dispatch is repeated, within the turn's time, before it
	// counts as blocked. The run loop does that by itself.
	Retries int
}

// Driver carries out turns of one project. It is safe for concurrent use: one dispatch for each
// parallel turn.
type Driver struct {
	r   *runner.Runner
	opt Options

	adopt sync.Once
}

// New makes a driver for the project of r.
func New(r *runner.Runner, opt Options) *Driver {
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	if opt.Environ == nil {
		opt.Environ = os.Environ
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Activity == nil {
		opt.Activity = func(string, runtimes.Activity) {}
	}
	return &Driver{r: r, opt: opt}
}

// Job is one turn to carry out.
type Job struct {
	TurnID   string
	Deadline time.Time      // when its time is up; derived from the turn's limits when zero
	View     *gitstore.View // the run with the turn in it; looked up when nil

	// Activity is called for signs of life besides Options.Activity; may be nil.
	Activity func(runtimes.Activity)
}

// Dispatch carries out an active turn and returns the outcome, which is never nil. When it cannot
// even begin, the outcome has the refusal in Err: Aborted when the turn is unharmed (no such turn,
// runtime not trusted here, another process at work on it), Blocked when a person has to fix
// something (bundle not as it was sealed).
func (d *Driver) Dispatch(ctx context.Context, job Job) *runtimes.Outcome {
	v, turn, rt, err := d.resolve(ctx, job)
	if err != nil {
		return refuse(runtimes.Aborted, err)
	}
	if err := d.r.Unleased(ctx, v, turn); err != nil {
		return refuse(runtimes.Aborted, err)
	}
	impl, err := d.opt.New(rt)
	if err != nil {
		return refuse(runtimes.Blocked, err)
	}
	bundle, err := d.r.OpenBundle(ctx, v, turn)
	switch {
	case err != nil && ctx.Err() != nil:
		return refuse(runtimes.Aborted, err) // the caller gave up meanwhile; nothing needs fixing
	case err != nil:
		return refuse(runtimes.Blocked, err)
	}
	root, err := os.OpenRoot(d.r.Record().Dir())
	if err != nil {
		return refuse(runtimes.Aborted, err)
	}
	defer func() { _ = root.Close() }()
	req := d.request(v, turn, rt, bundle)
	if req.Deadline = d.deadline(v, turn, job.Deadline); job.Activity != nil {
		tell := req.Activity
		req.Activity = func(a runtimes.Activity) {
			tell(a)
			job.Activity(a)
		}
	}
	if rt.Type == config.RuntimeManual {
		return impl.Dispatch(ctx, req)
	}
	if err := d.r.RuntimeTrusted(ctx, v.Config, rt.ID); err != nil {
		return refuse(runtimes.Aborted, err)
	}
	return d.carryOut(ctx, root, impl, req)
}

func refuse(kind string, err error) *runtimes.Outcome {
	out := &runtimes.Outcome{Kind: kind, Reason: err.Error(), Class: runner.ErrorCode(err), Err: err}
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		out.Recovery = refusal.Hint
	}
	return out
}

// resolve finds the turn and its runtime.
func (d *Driver) resolve(ctx context.Context, job Job) (*gitstore.View, *run.Turn, *config.Runtime, error) {
	v := job.View
	if v == nil {
		var err error
		if v, err = d.r.View(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	turn, ok := v.State.ActiveTurns.Get(job.TurnID)
	if !ok || turn == nil {
		return nil, nil, nil, &wire.Error{Code: wire.CodeTurnNotActive, Field: "turn_id",
			Message: "Turn " + job.TurnID + " is not active.", Hint: "git agentxchain status"}
	}
	rt, ok := v.Config.Runtimes.Get(turn.RuntimeID)
	switch {
	case ok && rt != nil:
	case turn.RuntimeID == config.RuntimeManual:
		rt = &config.Runtime{ID: turn.RuntimeID, Type: config.RuntimeManual}
	default:
		return nil, nil, nil, &wire.Error{Code: wire.CodeInvalidArgument, Field: "runtimes." + turn.RuntimeID,
			Message: fmt.Sprintf("Turn %s is bound to runtime %q, which %s does not define.", turn.TurnID,
				turn.RuntimeID, wire.ConfigPath),
			Hint: "git agentxchain reissue " + turn.TurnID}
	}
	return v, turn, rt, nil
}

// request returns the runtime's request.
func (d *Driver) request(v *gitstore.View, turn *run.Turn, rt *config.Runtime,
	b *dispatch.Verified) *runtimes.Request {
	req := &runtimes.Request{
		Root:        d.r.Record().Dir(),
		RunID:       v.State.Run(),
		TurnID:      turn.TurnID,
		Role:        turn.AssignedRole,
		Phase:       v.State.Phase,
		Attempt:     turn.Attempt,
		Runtime:     rt,
		Config:      v.Config,
		BundleDir:   dispatch.BundleDir(turn.TurnID),
		StagingPath: wire.StagingPath(turn.TurnID),
		Log:         io.Discard,
		Activity:    func(a runtimes.Activity) { d.opt.Activity(turn.TurnID, a) },
		Getenv:      d.opt.Getenv,
	}
	if role := v.Config.Role(turn.AssignedRole); role != nil {
		req.Authority = role.WriteAuthority
	}
	req.Prompt, _ = b.File(dispatch.PromptFile)
	req.Context, _ = b.File(dispatch.ContextFile)
	return req
}

// deadline returns the caller's deadline, else the earliest limit of the turn. A past deadline_at
// without a configured limit does not count: the turn was left lying, and a person wants it
// dispatched again.
func (d *Driver) deadline(v *gitstore.View, turn *run.Turn, until time.Time) time.Time {
	now := d.opt.Now()
	if !until.IsZero() {
		if limit := now.Add(d.opt.Limit); d.opt.Limit > 0 && limit.Before(until) {
			return limit
		}
		return until
	}
	var first time.Time
	sooner := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	limited := v.Config.Timeouts != nil && v.Config.Timeouts.PerTurn != nil
	if at, err := wire.ParseTime(turn.DeadlineAt); err == nil && (limited || at.After(now)) {
		sooner(at)
	}
	for _, b := range limits.TimeoutBudgets(v.Config, v.State, turn, now) {
		if b.Action != config.TimeoutWarn {
			sooner(b.Deadline)
		}
	}
	if d.opt.Limit > 0 {
		sooner(now.Add(d.opt.Limit))
	}
	if first.IsZero() {
		first = now.Add(DefaultLimit)
	}
	return first
}

// carryOut does the dispatch proper: marked, logged, tracked and timed.
func (d *Driver) carryOut(ctx context.Context, root *os.Root, impl runtimes.Runtime,
	req *runtimes.Request) *runtimes.Outcome {
	if !req.Deadline.After(d.opt.Now()) {
		return &runtimes.Outcome{
			Kind:   runtimes.TimedOut,
			Reason: "The time of turn " + req.TurnID + " was up before it was handed to its runtime.",
		}
	}
	for _, dir := range []string{path.Dir(turnmark.Path(req.TurnID)), path.Dir(req.StagingPath)} {
		if err := d.r.MakeDir(dir); err != nil {
			return refuse(runtimes.Aborted, err)
		}
	}
	req.Environ = environ(d.opt.Environ(), req.TurnID)
	if err := d.confine(req); err != nil {
		return refuse(runtimes.Aborted, err)
	}
	if _, err := root.Lstat(turnmark.Path(req.TurnID)); errors.Is(err, fs.ErrNotExist) {
		if err := d.r.AnnounceDispatch(req.TurnID); err != nil {
			return refuse(runtimes.Aborted, err)
		}
	}
	mark, err := d.hold(ctx, root, req.TurnID)
	if err != nil {
		return refuse(runtimes.Aborted, err)
	}
	defer d.r.ConcludeDispatch(req.TurnID)
	defer mark.Release()
	if d.opt.Sole {
		d.adopt.Do(func() { _ = process.AdoptOrphans() }) // if it fails the marks have to suffice
	}
	noted, err := d.r.BeginDispatch(ctx, req.TurnID, mark.Found)
	switch {
	case err == nil:
	case runner.ErrorCode(err) == tamper.CodeGitTampered:
		return refuse(runtimes.Blocked, err)
	default:
		return refuse(runtimes.Aborted, err)
	}
	req.Inherit = []*os.File{mark.File()}
	d.earlier(root, req)
	known := secrets.FromEnvironment(req.Environ, req.Runtime.Raw.String("auth_env"))
	log := openLog(root, req.TurnID, known)
	req.Log = log
	host, _ := os.Hostname()
	progress := runtimes.Track(root, runtimes.Progress{
		TurnID:      req.TurnID,
		RuntimeID:   req.Runtime.ID,
		AdapterType: req.Runtime.Type,
		Attempt:     req.Attempt,
		DriverPID:   os.Getpid(),
		Host:        host,
		Deadline:    wire.FormatTime(req.Deadline),
	}, d.opt.Now)
	tell := req.Activity
	req.Activity = func(a runtimes.Activity) {
		a.Line, a.Summary = secrets.Redact(a.Line, known...), secrets.Redact(a.Summary, known...)
		progress.Note(a)
		tell(a)
	}
	// The deadline is in the context too, for what a runtime calls; the runtime itself looks at
	// Request.Deadline to tell a timeout from a caller that gave up.
	out := d.attempts(ctx, impl, req)
	// The reason is recorded and may quote the agent.
	out.Reason, out.Recovery = secrets.Redact(out.Reason, known...), secrets.Redact(out.Recovery, known...)
	interrupted := out.Kind == runtimes.Aborted && ctx.Err() != nil
	// Before git is asked anything more: the agent's changes to git's settings must not count.
	found, err := d.r.EndDispatch(context.WithoutCancel(ctx), noted)
	for _, n := range found.Notes {
		_, _ = fmt.Fprintf(log, "\ngit-agentxchain: noted: %s\n", n)
	}
	log.close()
	if refusal := d.touched(ctx, req.TurnID); refusal != nil {
		out = refusal
	}
	if err != nil {
		out = refuse(runtimes.Blocked, err)
	}
	out.Moved = found.Moved
	if interrupted || again(out) {
		progress.Interrupt()
	} else {
		progress.Close()
	}
	if out.Kind != runtimes.Staged && out.Kind != runtimes.Returned {
		d.r.KeepLog(req.TurnID, req.Attempt)
	}
	return out
}

// again reports whether the attempt is repeated once a person has lifted what it blocks the run on,
// however long they take: the turn is not lost meanwhile.
func again(out *runtimes.Outcome) bool {
	return out.Kind == runtimes.TimedOut || out.Kind == runtimes.Blocked && out.Failure == ""
}

// touched puts back changes of the run's own files that were made while the agent was at work, and
// reports them; nil when there were none. An agent that knows their format could approve its own
// gate with them, so a person has to look at it, whatever its result is. The mark of the turn is
// still held: until now no command took the change for another tool's.
func (d *Driver) touched(ctx context.Context, turnID string) *runtimes.Outcome {
	plan, err := d.r.RestoreRecord(context.WithoutCancel(ctx))
	if err != nil {
		return refuse(runtimes.Aborted, err)
	}
	if plan == nil {
		return nil
	}
	names, kept := make([]string, len(plan.Actions)), ""
	for i, a := range plan.Actions {
		names[i] = a.Path
		if a.Kept != "" {
			kept = ", what was there is in " + path.Dir(a.Kept)
		}
	}
	return &runtimes.Outcome{Kind: runtimes.Blocked, Class: record.CodeStateTampered,
		Reason: fmt.Sprintf(
			"While the agent of turn %s was at work, another program changed %s; they were restored%s.", turnID, strings.Join(names, ", "), kept),
		Recovery: "look at what the agent did, then: git agentxchain unblock"}
}

// earlier keeps the log in the bundle: that of the previous attempt, whose result was refused, or
// of this one, whose loop was killed.
func (d *Driver) earlier(root *os.Root, req *runtimes.Request) {
	attempt := req.Attempt
	if before := attempt - 1; before > 0 {
		if _, err := root.Lstat(dispatch.AttemptLog(req.TurnID, before)); err != nil {
			attempt = before
		}
	}
	d.r.KeepLog(req.TurnID, attempt)
}

// attempts repeats the dispatch, within the turn's time, while the other side is merely too busy.
func (d *Driver) attempts(ctx context.Context, impl runtimes.Runtime, req *runtimes.Request) *runtimes.Outcome {
	for n := 0; ; n++ {
		out := dispatchSafely(ctx, impl, req)
		if out.Kind != runtimes.Blocked || !out.Retryable || out.Class != runtimes.ClassRateLimited ||
			n >= d.opt.Retries {
			return out
		}
		wait := max(out.RetryAfter, time.Second<<min(n, 6))
		if !d.opt.Now().Add(wait).Before(req.Deadline) {
			return out
		}
		req.Activity(runtimes.Activity{
			Type:    "silent",
			Summary: fmt.Sprintf("rate limited; trying again in %s", wait.Round(time.Second)),
		})
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return &runtimes.Outcome{Kind: runtimes.Aborted}
		case <-t.C:
		}
	}
}

// dispatchSafely turns a runtime's misbehaviour into an outcome.
func dispatchSafely(ctx context.Context, impl runtimes.Runtime, req *runtimes.Request) (out *runtimes.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = &runtimes.Outcome{
				Kind:     runtimes.Blocked,
				Class:    "runtime_failed",
				Reason:   fmt.Sprintf("The runtime %s crashed: %v.", req.Runtime.ID, p),
				Recovery: "report this, then: git agentxchain unblock",
			}
		}
	}()
	if out = impl.Dispatch(ctx, req); out == nil {
		out = &runtimes.Outcome{
			Kind:   runtimes.Blocked,
			Class:  "runtime_failed",
			Reason: fmt.Sprintf("The runtime %s gave no outcome.", req.Runtime.ID),
		}
	}
	return out
}
