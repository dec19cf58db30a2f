// The server: its options, its start and its end.

package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/crowd"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/workspace"
)

// Options configures a server. The zero value serves loopback without a token.
type Options struct {
	Token      string        // required bearer token; needed when other machines can connect
	MaxRuns    int           // runs carried out at a time; one for each processor when 0
	MaxQueue   int           // runs that may wait; 1000 when 0
	Workspaces string        // absolute directory for the runs' work trees; below the git directory when ""
	Wait       time.Duration // how long a solve is answered synchronously; 10 minutes when 0
	Heartbeat  time.Duration // between comments of a quiet event stream; 15 s when 0
	Keep       time.Duration // work trees of runs that are over are kept this long; for ever when 0
	Grace      time.Duration // for requests under way when the server ends; 10 s when 0
	Service    alx.Service
	OpenAPI    func() ([]byte, error) // returns the OpenAPI document

	Runner runner.Options // for the runs' runners: environment, trust
	Log    *slog.Logger   // none when nil
	Meter  Meter          // none when nil
	Now    func() time.Time
}

// Server answers the protocol for one project.
type Server struct {
	opt      Options
	home     *runner.Runner // of the project itself; its work tree is never touched
	records  records
	work     string // directory of the workspaces
	shown    string // the same as a person would type it
	index    *index
	log      *slog.Logger
	lock     *workspace.AcceptLock
	host     hosts
	prepared remembered

	admitting sync.Mutex // one new session at a time

	runs    context.Context // for the drives; ends when the server does
	endRuns context.CancelFunc
	jobs    sync.WaitGroup

	mu    sync.Mutex
	queue []*session
	busy  int

	ending chan struct{} // closed when the server begins to end
	busyIO limits
}

// New makes the server of the project in dir and loads what is recorded. One server at a time
// serves a project: with another one the error is locked. Close it.
func New(ctx context.Context, dir string, opt Options) (*Server, error) {
	if opt.MaxRuns <= 0 {
		opt.MaxRuns = runtime.GOMAXPROCS(0)
	}
	if opt.MaxQueue <= 0 {
		opt.MaxQueue = 1000
	}
	opt.Wait = orElse(opt.Wait, 10*time.Minute)
	opt.Heartbeat = orElse(opt.Heartbeat, 15*time.Second)
	opt.Grace = orElse(opt.Grace, 10*time.Second)
	if opt.Meter == nil {
		opt.Meter = unmeasured{}
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	home, err := runner.Open(ctx, dir, opt.Runner)
	if err != nil {
		return nil, err
	}
	s := &Server{opt: opt, home: home, log: opt.Log, ending: make(chan struct{}), busyIO: newLimits()}
	if err := s.begin(ctx, dir); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func orElse(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

func (s *Server) begin(ctx context.Context, dir string) error {
	if id := s.home.InsideTurn(); id != "" {
		return &wire.Error{Code: wire.CodeInsideTurn, Field: "actor",
			Message: fmt.Sprintf(
				"This process runs inside dispatched turn %s; an agent does its own turn and starts no others.", id,
			),
			Hint: "ask a person to run git agentxchain serve in their own terminal"}
	}
	repo := s.home.Record().Repository()
	own := filepath.Join(repo.CommonDir, "agentxchain", "serve", wire.SHA256([]byte(repo.Prefix))[:12])
	var err error
	if s.lock, err = workspace.LockFile(ctx, filepath.Join(own, "serve.lock"), "serve"); err != nil {
		return err
	}
	s.records = records{filepath.Join(own, "sessions")}
	if s.work = s.opt.Workspaces; s.work == "" {
		s.work = filepath.Join(own, "work")
	}
	if err := os.MkdirAll(s.work, 0o777); err != nil {
		return fmt.Errorf("the directory of the work trees cannot be made: %w", err)
	}
	if s.work, err = filepath.EvalSymlinks(s.work); err != nil {
		return err
	}
	s.shown = s.work
	if rel, err := filepath.Rel(repo.TopLevel, s.work); err == nil && rel != ".." &&
		!strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		s.shown = rel
	}
	reader, err := runner.Open(ctx, dir, s.opt.Runner)
	if err != nil {
		return err
	}
	s.index = newIndex(reader)
	s.opt.Meter.Watch(s.gauges())
	s.runs, s.endRuns = context.WithCancel(context.Background())
	return s.load(ctx)
}

// load reads the existing sessions and runs, and queues those of ours that can be continued, in the
// order of their requests.
func (s *Server) load(ctx context.Context) error {
	list, problems, err := s.records.load()
	if err != nil {
		return err
	}
	for _, p := range problems {
		s.log.Warn("a session's record cannot be read and is left out", "problem", p)
	}
	for _, rec := range list {
		x := s.newSession(rec)
		if err := s.index.refresh(ctx, x); err != nil {
			s.log.Error("a run cannot be read", "sessionId", rec.SessionID, "executionId", rec.ExecutionID,
				"error", err.Error())
		}
		x.update(func() {})
		s.index.add(x)
	}
	if err := s.index.discover(ctx); err != nil {
		return err
	}
	all := s.index.all()
	for _, x := range slices.Backward(all) {

		if x.rec == nil {
			continue
		}
		status := x.look().session.Status
		if status == alx.StatusActive || status == alx.StatusCompleted && x.rec.SettledAt == "" {
			s.enqueue(x)
		}
	}
	return nil
}

// newSession makes the session of a record, with the directory that people are sent to.
func (s *Server) newSession(rec *record) *session {
	x := newSession(rec, rec.ExecutionID)
	x.live.Dir = filepath.Join(s.shownWorkspace(rec), filepath.FromSlash(s.home.Record().Repository().Prefix))
	return x
}

func (s *Server) shownWorkspace(rec *record) string {
	if rel, err := filepath.Rel(s.work, rec.Workspace); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(s.shown, rel)
	}
	return rec.Workspace
}

// Serve answers on l until ctx ends: then it accepts no more connections, ends the agents, informs
// the event streams, gives requests under way Options.Grace, and leaves the runs for the next
// server to continue.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.host.listen(l.Addr())
	limited := crowd.Limit(enveloped{l}, maxConnections)
	h := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         limited.State,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.jobs.Go(s.watch)
	s.jobs.Go(s.tidy)
	s.schedule()
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(limited) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.log.Info("ending", "running", s.running())
	close(s.ending)
	s.endRuns()
	grace, cancel := context.WithTimeout(context.Background(), s.opt.Grace)
	defer cancel()
	if serr := h.Shutdown(grace); serr != nil {
		_ = h.Close()
	}
	s.jobs.Wait()
	s.log.Info("ended")
	return err
}

// Close releases everything. Call it after Serve has returned.
func (s *Server) Close() error {
	if s.endRuns != nil {
		s.endRuns()
	}
	s.jobs.Wait()
	errs := []error{s.home.Close()}
	if s.index != nil {
		errs = append(errs, s.index.reader.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return failures.All(errs...)
}

// fail records a failure that no later server can avoid as the end of a session.
func (s *Server) fail(x *session, why *alx.Error) {
	x.mu.Lock()
	rec := *x.rec
	rec.Failed, rec.FailedAt = why, wire.FormatTime(s.opt.Now().UTC())
	err := s.records.save(&rec)
	if err == nil {
		x.rec = &rec
		x.origin.Failed, x.origin.FailedAt = rec.Failed, rec.FailedAt
	} else {
		x.live.Stopped = alx.Errorf(alx.CodeInternal, "What became of the session could not be written down: %s.", err)
	}
	x.show()
	x.mu.Unlock()
	s.log.Error("a session failed", "sessionId", rec.SessionID, "executionId", rec.ExecutionID,
		"correlationId", rec.CorrelationID, "code", why.Code, "error", why.Message)
}
