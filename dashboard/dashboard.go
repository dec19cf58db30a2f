// The server: listening, routes, bounds, and how it ends.

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/crowd"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// DefaultPort is the port at which a dashboard is looked for (docs/dashboard.md#api).
const DefaultPort = 3847

// Bounds on the cost of one client.
const (
	maxConnections = 2048
	maxHeader      = 32 << 10
	readWait       = 10 * time.Second // for a request's header
	idleWait       = 60 * time.Second
	writeWait      = 15 * time.Second // for a client to take a piece of an answer
	shutdownWait   = 2 * time.Second
)

// Codes of errors, besides those of the packages below.
const (
	CodePortBusy = "port_busy"         // another program listens there
	CodeRunning  = "dashboard_running" // a dashboard of this project is running already
)

// Options of a Server.
type Options struct {
	Dir    string // of the project or the workspace
	Replay *Replay
	Now    func() time.Time // the clock for the run; of an artifact, when it was made
	Runner runner.Options   // how the run is read; its Now is Now
	Every  time.Duration    // between two looks at the files; 200 ms when 0
	Log    func(string)     // receives what goes wrong while serving; nil for nothing

	AllowApprove bool // people may approve the waiting gate from the page
}

// Replay describes a replayed artifact; its workspace is in Options.Dir.
type Replay struct {
	Artifact string // where it came from, for people
	Exported string // when it was made, "" when unknown
	Schema   string
	Partial  []string // files of which it has only a part or nothing
}

// Server is a dashboard. Make it with New, then Listen, Serve, Close.
type Server struct {
	opt     Options
	token   string
	tickets tickets
	looks   looks
	pid     int
	started time.Time
	port    int
	model   *model
	pages   pages
	heavy   chan struct{} // slots for answers that read much
	done    chan struct{} // closed when the server ends
	once    sync.Once
}

// New makes a server for what is in opt.Dir. Errors: not_a_project when it contains nothing
// governed, and those of opening it.
func New(ctx context.Context, opt Options) (*Server, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Every <= 0 {
		opt.Every = 200 * time.Millisecond
	}
	opt.Runner.Now = opt.Now
	s := &Server{
		opt:     opt,
		token:   newToken(),
		pid:     os.Getpid(),
		started: time.Now().UTC().Truncate(time.Millisecond),
		heavy:   make(chan struct{}, 4),
		done:    make(chan struct{}),
	}
	var err error
	if s.model, err = newModel(ctx, opt); err != nil {
		return nil, err
	}
	return s, nil
}

// Listen binds the port on the loopback interface, 0 for any that is free. Errors:
// port_busy, io_failed.
func (s *Server) Listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &wire.Error{
			Code:    CodePortBusy,
			Field:   "port",
			Message: fmt.Sprintf("Port %d is already in use. Try --port <number>.", port),
			Hint:    "--port 0 takes any port that is free",
		}
	case err != nil:
		return nil, &wire.Error{
			Code:    "io_failed",
			Field:   "port",
			Message: fmt.Sprintf("Port %d cannot be listened on: %s.", port, reason(err)),
			Hint:    "--port 0 takes any port that is free",
		}
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	return l, nil
}

func reason(err error) string {
	if sys, ok := errors.AsType[syscall.Errno](err); ok {
		return sys.Error()
	}
	return err.Error()
}

// Dir returns the directory that is shown.
func (s *Server) Dir() string { return s.model.dir }

// Port returns the port that the server listens on.
func (s *Server) Port() int { return s.port }

// URL returns the address without the token, as in the session file.
func (s *Server) URL() string { return "http://localhost:" + strconv.Itoa(s.port) }

// OpenURL returns the address for a person or a program, with the token.
func (s *Server) OpenURL() string {
	return "http://127.0.0.1:" + strconv.Itoa(s.port) + "/?token=" + s.token
}

// TicketURL returns an address that opens the dashboard once. It is for a browser that is started
// with it: others can see a command line.
func (s *Server) TicketURL() string {
	return "http://127.0.0.1:" + strconv.Itoa(s.port) + "/?ticket=" + s.tickets.issue(time.Now())
}

// Token returns what requests have to present, 48 hex digits.
func (s *Server) Token() string { return s.token }

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var watching sync.WaitGroup
	watching.Go(func() { s.model.watch(ctx) })
	limited := crowd.Limit(l, maxConnections)
	web := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: readWait,
		ReadTimeout:       readWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(logWriter{s.opt.Log}, "", 0),
		ConnState:         limited.State,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(limited) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.end()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
	defer cancel()
	if web.Shutdown(grace) != nil {
		_ = web.Close()
	}
	stop()
	watching.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	if err != nil {
		return &wire.Error{Code: "io_failed", Message: "The dashboard can no longer serve: " + err.Error() + "."}
	}
	return nil
}

func (s *Server) end() { s.once.Do(func() { close(s.done) }) }

// Close releases what the server has opened. Call it after Serve, or instead of it.
func (s *Server) Close() error {
	s.end()
	return s.model.close()
}

// logWriter receives the http server's complaints, line by line.
type logWriter struct{ log func(string) }

func (w logWriter) Write(p []byte) (int, error) {
	// Mistakes of clients are not logged: every user of this machine can make them.
	if line := strings.TrimSpace(string(p)); w.log != nil && !strings.Contains(line, "TLS handshake") {
		w.log(visible(line))
	}
	return len(p), nil
}

var _ io.Writer = logWriter{}
