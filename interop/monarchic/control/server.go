// The server: its parts, and where it listens.

package control

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"net"
	"os"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/git-agentxchain/git-agentxchain/internal/listen"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Defaults of docs/leases.md#the-calls.
const (
	DefaultHeartbeat = 30 * time.Second
	DefaultPoll      = 5 * time.Second
	DefaultPatience  = 10 * time.Second
)

// Limits of the server.
const (
	maxMessage     = 16 << 20
	maxStreams     = 64 // calls at a time on one connection
	maxConnections = 256
	maxWatches     = 128              // of the health service: half of the connections are reserved for calls
	maxBodyBytes   = 64 << 20         // of all messages that have not arrived completely
	maxUnread      = 256 << 10        // that the library keeps of one connection for calls that have not read it
	watchLimit     = 10 * time.Second // for the request of a client that needs no token
	maxCalls       = 64               // at a time, over all connections
	callLimit      = 2 * time.Minute
	callTooLong    = 10 * time.Minute // the most that a client may request
)

// Options configures a Server. Runner is required.
type Options struct {
	Runner    *runner.Runner
	TTL       time.Duration // of a lease; 0: until the turn's deadline
	Heartbeat time.Duration // DefaultHeartbeat when 0
	Poll      time.Duration // DefaultPoll when 0
	Patience  time.Duration // how long a report waits in its call for turns beside its own; DefaultPatience when 0
	Token     string        // required in every call when not ""
	TLS       *tls.Config   // nil: plain text
	Now       func() time.Time
	Version   string // of this program, for orchestrator_id

	// NoCheckpoint leaves the files of accepted turns uncommitted.
	NoCheckpoint bool

	// Log receives one line for every call; it must be safe for concurrent use.
	Log func(Call)
}

// Call is one answered call, for a log. It contains no secret.
type Call struct {
	At       time.Time
	Method   string // without the service's name
	Peer     string
	Runner   string
	Session  string // only the first characters; logs must not reveal the whole id
	Lease    string
	Outcome  string // ok, none, refused, or the gRPC code of a failed call
	Code     string // of the refusal
	Detail   string // one line
	Duration time.Duration
}

// Server serves one project. It is safe for concurrent use.
type Server struct {
	opt      Options
	r        *runner.Runner
	sessions *sessions
	calls    chan struct{}
	token    [sha256.Size]byte
	acquire  sync.Mutex // one turn is chosen at a time
	refusals refusals
	parked   parked
	told     told
	place    os.FileInfo // the project's directory
	release  func()
}

// New opens the service for a project: it becomes the only one of this work tree and reads the
// earlier sessions. Close ends that. Errors: locked, and those of reading the sessions.
func New(ctx context.Context, opt Options) (*Server, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Heartbeat <= 0 {
		opt.Heartbeat = DefaultHeartbeat
	}
	if opt.Poll <= 0 {
		opt.Poll = DefaultPoll
	}
	if opt.Patience <= 0 {
		opt.Patience = DefaultPatience
	}
	if opt.Log == nil {
		opt.Log = func(Call) {}
	}
	s := &Server{
		opt:   opt,
		r:     opt.Runner,
		calls: make(chan struct{}, maxCalls),
		token: sha256.Sum256([]byte(opt.Token)),
	}
	release, err := s.r.ServeLeases(ctx)
	if err != nil {
		return nil, err
	}
	s.release = release
	if s.place, err = os.Stat(s.r.Record().Dir()); err != nil {
		s.Close()
		return nil, err
	}
	if s.sessions, err = openSessions(s.r.PrivateDir(), opt.Now); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// here refuses every call after the project's directory was removed or moved, or another was put in its place: what
// we have open is no longer what is there, and runs of the two would be mixed up.
func (s *Server) here() error {
	dir := s.r.Record().Dir()
	now, err := os.Stat(dir)
	switch {
	case err != nil:
		return refuse(connect.CodeFailedPrecondition, "directory_unusable: the directory %s of this service is gone", dir)
	case !os.SameFile(s.place, now):
		return refuse(connect.CodeFailedPrecondition,
			"directory_unusable: the directory %s is another one than when this service began; start it again", dir)
	}
	return nil
}

// start records the start of the service.
func (s *Server) start(ctx context.Context) error {
	found := 0
	list, _, err := s.r.Leases(ctx, "")
	if err != nil {
		return err
	}
	for _, l := range list {
		if l.Live {
			found++
		}
	}
	return s.patiently(ctx, func() error { return s.r.RecordServing(ctx, found) })
}

// Close releases what New has taken.
func (s *Server) Close() {
	if s.release != nil {
		s.release()
	}
}

// Listen opens addr, listen.TCP, and records that the service is there: a service that found no address was never
// there. An address that other machines can reach needs both a token and TLS. Errors: those of listen.TCP and of
// recording in the run.
func (s *Server) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := listen.TCP(ctx, addr, listen.Options{Token: s.opt.Token, InClear: s.opt.TLS == nil,
		Exposes: "carry out turns", GiveWith: "give --token-file, --tls-cert and --tls-key"})
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}
