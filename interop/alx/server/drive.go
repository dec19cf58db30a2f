// Carrying out runs: a bounded number at a time, the others in order.

package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/builtin"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
	"github.com/git-agentxchain/git-agentxchain/runner/workspace"
)

// correlationEnv passes the correlation id to what agents start.
const correlationEnv = "AGENTXCHAIN_CORRELATION_ID"

// retryBusy is how long a run that another process drives is left alone.
const retryBusy = 5 * time.Second

// enqueue adds a session to the queue. One that waits or is carried out already stays where it is.
func (s *Server) enqueue(x *session) {
	s.mu.Lock()
	x.mu.Lock()
	again := x.queued || x.driven || s.runs.Err() != nil
	if !again {
		x.queued, x.live.Stopped = true, nil
		x.live.Ahead = len(s.queue) + s.busy
		if s.busy < s.opt.MaxRuns {
			x.live.Ahead = len(s.queue)
		}
		x.show()
	}
	x.mu.Unlock()
	if !again {
		s.queue = append(s.queue, x)
	}
	s.mu.Unlock()
	s.schedule()
}

// schedule carries out what may be carried out now.
func (s *Server) schedule() {
	s.mu.Lock()
	defer s.mu.Unlock()
	moved := false
	for s.busy < s.opt.MaxRuns && len(s.queue) > 0 && s.runs.Err() == nil && s.host.ready() {
		x := s.queue[0]
		s.queue = s.queue[1:]
		s.busy++
		moved = true
		x.update(func() { x.queued, x.driven, x.live.Ahead = false, true, -1 })
		s.jobs.Go(func() { s.carryOut(x) })
	}
	if !moved {
		return
	}
	for i, x := range s.queue {
		x.update(func() { x.live.Ahead = i + s.busy })
	}
}

// running returns how many runs are carried out now.
func (s *Server) running() int { s.mu.Lock(); defer s.mu.Unlock(); return s.busy }
func (s *Server) waiting() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.queue) }

// carryOut drives a session's run once, to its end or to where it waits.
func (s *Server) carryOut(x *session) {
	log := s.log.With("sessionId", x.id(), "executionId", x.facts.Run, "correlationId", x.origin.CorrelationID)
	log.Info("run begins or goes on")
	began := s.opt.Now()
	stopped, again := s.driveSafely(s.runs, x)
	ctx := context.WithoutCancel(s.runs)
	if err := s.index.refresh(ctx, x); err != nil {
		log.Error("the run cannot be read", "error", err.Error())
		if stopped == nil {
			stopped = alx.Errorf(alx.CodeInternal, "The run cannot be read: %s.", strings.TrimSuffix(err.Error(), "."))
		}
	}
	s.mu.Lock()
	s.busy--
	s.mu.Unlock()
	if s.runs.Err() != nil {
		again = false
	}
	x.update(func() {
		x.driven, x.rested, x.live.Stopped = false, x.tip, stopped
		if s.runs.Err() != nil {
			x.queued = true // the next server continues it
		}
	})
	snap := x.look()
	s.opt.Meter.Drove(snap.session.Status, s.opt.Now().Sub(began))
	log.Info("run rests", "status", string(snap.session.Status), "nextStep", snap.session.NextStep,
		"durationMs", s.opt.Now().Sub(began).Milliseconds())
	if again {
		s.jobs.Go(func() {
			t := time.NewTimer(retryBusy)
			defer t.Stop()
			select {
			case <-s.runs.Done():
			case <-t.C:
				s.enqueue(x)
			}
		})
	}
	s.schedule()
}

func (s *Server) driveSafely(ctx context.Context, x *session) (stopped *alx.Error, again bool) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a defect while a run was carried out", "sessionId", x.id(), "panic", fmt.Sprint(p))
			stopped, again = alx.Errorf(alx.CodeInternal, "A defect of the server stopped the run."), false
		}
	}()
	return s.drive(ctx, x)
}

// drive moves a run as far as it goes without a person. stopped is what keeps it from going on, nil
// when the run itself says so; again requests another attempt later.
func (s *Server) drive(ctx context.Context, x *session) (stopped *alx.Error, again bool) {
	x.mu.Lock()
	rec, begun := x.rec, x.tip != ""
	x.mu.Unlock()
	dir, err := s.workspace(ctx, rec, begun)
	if err != nil {
		return s.hinder(ctx, x, err, !begun)
	}
	opt := s.opt.Runner
	opt.Correlation = rec.CorrelationID
	r, err := runner.Open(ctx, dir, opt)
	if err != nil {
		return s.hinder(ctx, x, err, !begun)
	}
	defer func() { _ = r.Close() }()
	if !begun {
		if err := s.start(ctx, r, rec); err != nil {
			return s.hinder(ctx, x, err, true)
		}
	}
	most, done, err := s.turnsLeft(ctx, r, x)
	if err != nil {
		return s.hinder(ctx, x, err, false)
	}
	if most == 0 {
		return tooManyTurns(done), false
	}
	agents := driver.New(r, driver.Options{New: builtin.New, Getenv: opt.Getenv, Sole: true,
		Environ: func() []string { return append(os.Environ(), correlationEnv+"="+rec.CorrelationID) }})
	res := loop.Run(ctx, r, loop.Options{
		MaxTurns: most,
		Dispatch: func(ctx context.Context, job *loop.Dispatch) *runtimes.Outcome {
			return agents.Dispatch(ctx, driver.Job{
				TurnID:   job.Turn.TurnID,
				Deadline: job.Deadline,
				View:     job.View,
				Activity: job.Activity,
			})
		},
		OnEvent: func(e loop.Event) {
			switch e.Type {
			case loop.EventTurnAssigned, loop.EventTurnAccepted, loop.EventTurnRejected, loop.EventTurnConflicted:
				s.opt.Meter.Turn(e.Type)
			}
			s.news(x)
		},
	})
	if res.State != nil && res.State.Status == wire.StatusCompleted {
		s.settle(context.WithoutCancel(ctx), r, x)
	}
	return stopOf(res), res.Cause == loop.CauseLoopRunning
}

// workspace returns the directory of a session's project: made for a run that has not begun,
// restored for one that has and whose directory was removed.
func (s *Server) workspace(ctx context.Context, rec *record, begun bool) (string, error) {
	dir := filepath.Join(rec.Workspace, filepath.FromSlash(s.home.Record().Repository().Prefix))
	if begun {
		if _, err := os.Lstat(rec.Workspace); errors.Is(err, os.ErrNotExist) {
			return workspace.Restore(ctx, s.home, rec.Workspace, rec.Branch, rec.ExecutionID)
		}
		return dir, nil
	}
	files, err := s.files(ctx, rec)
	if err != nil {
		return "", err
	}
	return workspace.Add(ctx, s.home, workspace.Options{
		Dir:    rec.Workspace,
		Branch: rec.Branch,
		From:   runner.OpID(rec.Base),
		Files:  files,
		Message: "Solve: " + subject(rec.Intent) + "\n\nAlx-Session: " + rec.SessionID + "\nAgentxchain-Run: " +
			rec.ExecutionID + "\n",
	})
}

// start begins the run, once this machine trusts what it would start.
func (s *Server) start(ctx context.Context, r *runner.Runner, rec *record) error {
	ctxt, err := r.LoadContext(ctx)
	if err != nil {
		return err
	}
	if err := r.RuntimeTrusted(ctx, ctxt.Config, bound(ctxt.Config)...); err != nil {
		return s.uncommitted(err, r, ctxt.Config)
	}
	_, err = r.StartRun(ctx, rec.Seed,
		runner.InitRunOptions{Trigger: "manual", TriggerReason: "alx session " + rec.SessionID})
	return err
}

// uncommitted returns a refusal of trust that names the programs whose committed contents differ from those in the
// project's work tree. A person trusts the work tree, and a run begins from the commit.
func (s *Server) uncommitted(err error, r *runner.Runner, cfg *config.Config) error {
	var refusal *wire.Error
	if !errors.As(err, &refusal) || refusal.Code != trust.CodeHooksUntrusted {
		return err
	}
	ours, err1 := trust.Of(s.home.Record().Repository().ProjectDir, cfg)
	theirs, err2 := trust.Of(r.Record().Repository().ProjectDir, cfg)
	if err1 != nil || err2 != nil {
		return err
	}
	var names []string
	for _, f := range ours.Files {
		if !slices.Contains(theirs.Files, f) {
			names = append(names, wire.ShellWord(f.Path))
		}
	}
	if len(names) == 0 {
		return err
	}
	told := *refusal
	told.Message = fmt.Sprintf("%s is not committed as it is in the work tree, where it may be trusted; nothing was started.",
		strings.Join(names, ", "))
	told.Hint = "git add -- " + strings.Join(names, " ") + " && git commit"
	return &told
}

// bound returns the runtimes that roles are bound to.
func bound(c *config.Config) []string {
	var out []string
	for _, role := range c.Roles.All() {
		if role != nil && !slices.Contains(out, role.RuntimeID) {
			out = append(out, role.RuntimeID)
		}
	}
	return out
}

// hinder decides about a session whose run could not be continued: nothing when the server is
// ending; an end when the run had not begun and cannot; else it waits for a person.
func (s *Server) hinder(ctx context.Context, x *session, err error, final bool) (*alx.Error, bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	s.news(x)
	x.mu.Lock()
	final = final && x.tip == "" // the run may have begun anyway
	x.mu.Unlock()
	why := failure(err)
	if final && why.Code != alx.CodeUnavailable {
		s.fail(x, why)
		return nil, false
	}
	return why, why.Code == alx.CodeUnavailable
}

// stopOf returns why a loop ended when the run's own state does not say it.
func stopOf(res *loop.Result) *alx.Error {
	if res.State == nil || res.State.Status != wire.StatusActive {
		if res.State == nil && res.Cause != loop.CauseCancelled && res.Cause != loop.CauseLoopRunning {
			return failure(errors.Join(res.Err, errors.New(strings.Join(res.Errors, "; "))))
		}
		return nil
	}
	switch res.Cause {
	case loop.CauseCancelled, loop.CauseAwaitingPerson, loop.CauseClaimed, loop.CauseLoopRunning:
		return nil
	}
	switch {
	case res.Err != nil:
		return failure(res.Err)
	case res.StopReason == loop.MaxTurnsReached:
		return tooManyTurns(res.TurnsExecuted)
	case len(res.Errors) > 0:
		return &alx.Error{
			Code:    alx.CodeRunBlocked,
			Message: strings.Join(res.Errors, "; ") + ".",
			Hint:    "git agentxchain status",
		}
	}
	return &alx.Error{
		Code:    alx.CodeRunBlocked,
		Message: "No role is due for a turn (" + string(res.StopReason) + ").",
		Hint:    "git agentxchain status",
	}
}

// turnsLeft returns how many turns run_loop.max_turns leaves the run, counting those of earlier
// servers and of people: a restart gives no turns back. done counts the accepted ones.
func (s *Server) turnsLeft(ctx context.Context, r *runner.Runner, x *session) (left, done int, err error) {
	v, err := r.View(ctx)
	if err != nil {
		return 0, 0, err
	}
	x.mu.Lock()
	for _, row := range x.facts.History {
		if row.String("status") != "reissued" {
			done++
		}
	}
	x.mu.Unlock()
	most := max(1, v.Config.RunLoop.MaxTurns)
	if v.State.Status != wire.StatusActive {
		return max(1, most-done), done, nil // the loop has other reasons to end
	}
	return max(0, most-done), done, nil
}

func tooManyTurns(done int) *alx.Error {
	return &alx.Error{
		Code:    alx.CodeRunBlocked,
		Message: fmt.Sprintf("As many turns are done as run_loop.max_turns allows (%d).", done),
		Hint:    "git agentxchain run",
	}
}

// failure returns an error of the packages below in the protocol's form: a code of its closed list,
// with the original code in the details.
func failure(err error) *alx.Error {
	if told, ok := errors.AsType[*alx.Error](err); ok {
		return told
	}
	var refusal *wire.Error
	e := &alx.Error{Code: alx.CodeInternal, Message: err.Error()}
	var hinted interface{ ErrorHint() string }
	if errors.As(err, &refusal) {
		e.Message, e.Hint = refusal.Message, refusal.Hint
	} else if errors.As(err, &hinted) {
		e.Hint = hinted.ErrorHint()
	}
	code := runner.ErrorCode(err)
	switch code {
	case trust.CodeHooksUntrusted:
		e.Code = alx.CodeRuntimeUntrusted
	case workspace.CodeRuntimeManual:
		e.Code = alx.CodeRuntimeNotAutomatic
	case workspace.CodeNoBase, "not_a_project", "not_a_git_repository", "invalid_config", "invalid_json":
		e.Code = alx.CodeProjectNotReady
	case "file_exists", wire.CodeRunExists:
		e.Code = alx.CodeRunFailed
	case "locked", "ref_moved", "ref_locked", "state_moved", "interrupted":
		e.Code = alx.CodeUnavailable
	}
	if code != "" && code != e.Code {
		e = e.With("cause", code)
	}
	if refusal != nil && refusal.Explain != "" {
		e = e.With("explain", refusal.ExplainCommand())
	}
	return e
}
