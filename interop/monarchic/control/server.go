// The server: listener, limits, authentication, one log line a call.

package control

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Defaults of spec/08 §11.8.
const (
	DefaultHeartbeat = 30 * time.Second
	DefaultPoll      = 5 * time.Second
)

// Limits of the server.
const (
	maxMessage     = 16 << 20
	maxStreams     = 64 // calls at a time on one connection
	maxConnections = 256
	maxCalls       = 64 // at a time, of all connections
	callLimit      = 2 * time.Minute
	callTooLong    = 10 * time.Minute // what a client may ask for at most
	pingEvery      = 10 * time.Second // the most often a client may ping
	idleConnection = 30 * time.Minute
	minToken       = 16 // characters, where other machines can try
)

// Options configures a Server. Runner is required.
type Options struct {
	Runner    *runner.Runner
	TTL       time.Duration // of a lease; 0: until the turn's deadline
	Heartbeat time.Duration // DefaultHeartbeat when 0
	Poll      time.Duration // DefaultPoll when 0
	Token     string        // required of every call when not ""
	TLS       *tls.Config   // nil: plain text
	Now       func() time.Time
	Version   string // of this program, for orchestrator_id

	// NoCheckpoint leaves the files of accepted turns uncommitted.
	NoCheckpoint bool

	// Log takes one line for every call; it must be safe for concurrent use.
	Log func(Call)
}

// Call is one call that was answered, for a log. It holds no secret.
type Call struct {
	At       time.Time
	Method   string // without the service's name
	Peer     string
	Runner   string
	Session  string // the first characters only; the whole id is nobody's business who reads logs
	Lease    string
	Outcome  string // ok, none, refused, or the gRPC code of a failed call
	Code     string // of the refusal
	Detail   string // one line
	Duration time.Duration
}

// Server serves one project. It is safe for concurrent use.
type Server struct {
	pb.UnimplementedRunnerControlServiceServer

	opt      Options
	r        *runner.Runner
	sessions *sessions
	calls    chan struct{}
	token    [sha256.Size]byte
	acquire  sync.Mutex // one turn is chosen at a time
	refusals refusals
	release  func()
}

// New opens the service for a project: it becomes the only one of this work tree and
// reads the sessions of before. Close ends that. Errors: locked, and those of reading
// the sessions.
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
	if opt.Log == nil {
		opt.Log = func(Call) {}
	}
	s := &Server{opt: opt, r: opt.Runner, calls: make(chan struct{}, maxCalls), token: sha256.Sum256([]byte(opt.Token))}
	release, err := s.r.ServeLeases(ctx)
	if err != nil {
		return nil, err
	}
	s.release = release
	if s.sessions, err = openSessions(s.r.PrivateDir(), opt.Now); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// start puts the beginning of the service on record.
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

// Close gives up what New has taken.
func (s *Server) Close() {
	if s.release != nil {
		s.release()
	}
}

// AddressError is an address that cannot be served on, and why.
type AddressError struct{ Address, Problem string }

func (e AddressError) Error() string {
	return fmt.Sprintf("cannot listen on %s: %s", e.Address, e.Problem)
}

// Listen opens addr (HOST:PORT or PORT) and puts on record that the service is there:
// one that found no address to serve on was never there. An address that other machines
// can reach needs both a token and TLS. Errors: AddressError, those of the network, and
// those of recording in the run.
func (s *Server) Listen(ctx context.Context, addr string) (net.Listener, error) {
	if !strings.Contains(addr, ":") {
		addr = "127.0.0.1:" + addr
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, AddressError{addr, "it is not HOST:PORT"}
	}
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case local:
	case s.opt.Token == "" || s.opt.TLS == nil:
		return nil, AddressError{addr, "other machines may reach it, which needs --token-file, --tls-cert and --tls-key"}
	case len(s.opt.Token) < minToken:
		return nil, AddressError{addr, fmt.Sprintf("other machines may reach it, which needs a token of at least %d characters", minToken)}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		_ = l.Close()
		return nil, err
	}
	return &limited{Listener: l, slots: make(chan struct{}, maxConnections)}, nil
}

// Serve answers calls on l until ctx ends, then waits at most grace for those under
// way. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	opts := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage), grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(20 * time.Second), grpc.MaxHeaderListSize(32 << 10),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleConnection, Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingEvery, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(s.intercept),
	}
	if s.opt.TLS != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(s.opt.TLS)))
	}
	g := grpc.NewServer(opts...)
	pb.RegisterRunnerControlServiceServer(g, s)
	h := health.NewServer()
	h.SetServingStatus(pb.RunnerControlService_ServiceDesc.ServiceName, healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(g, h)
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	h.Shutdown() // whoever watches goes elsewhere
	stop := time.AfterFunc(grace, g.Stop)
	defer stop.Stop()
	g.GracefulStop()
	if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// ask is what every request can be asked.
type ask interface {
	GetContractVersion() string
	GetRunnerId() string
}

// intercept is around every call: who asks, how long it may take, what is logged,
// and that a defect ends a call and not the server.
func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (out any, err error) {
	if strings.HasPrefix(info.FullMethod, "/grpc.health.") {
		return handler(ctx, req)
	}
	call := Call{At: s.opt.Now(), Method: info.FullMethod[strings.LastIndexByte(info.FullMethod, '/')+1:]}
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		call.Peer = p.Addr.String()
	}
	begun := time.Now()
	defer func() {
		if p := recover(); p != nil {
			err = status.Errorf(codes.Internal, "this is a defect in git-agentxchain: %v", p)
			call.Detail = oneLine(string(debug.Stack()), 2000)
		}
		call.Duration = time.Since(begun)
		describe(&call, req, out, err)
		s.opt.Log(call)
	}()
	if !s.authorized(ctx) {
		return nil, status.Error(codes.Unauthenticated, "a bearer token is required, and this one is not it")
	}
	limit := callLimit
	if at, ok := ctx.Deadline(); ok {
		limit = min(time.Until(at), callTooLong)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case s.calls <- struct{}{}:
		defer func() { <-s.calls }()
	case <-ctx.Done():
		return nil, status.Error(codes.ResourceExhausted, "too many calls are being answered; try again")
	}
	if a, ok := req.(ask); ok {
		if err := checkAsk(a); err != nil {
			return nil, err
		}
	}
	return handler(ctx, req)
}

// authorized compares tokens in a time that does not tell how much of one is right.
func (s *Server) authorized(ctx context.Context) bool {
	if s.opt.Token == "" {
		return true
	}
	md, _ := metadata.FromIncomingContext(ctx)
	good := 0
	for _, v := range md.Get("authorization") {
		scheme, token, _ := strings.Cut(v, " ")
		if !strings.EqualFold(scheme, "bearer") {
			continue
		}
		sum := sha256.Sum256([]byte(token))
		good |= subtle.ConstantTimeCompare(sum[:], s.token[:])
	}
	return good == 1
}

// limited bounds the connections that are open at a time.
type limited struct {
	net.Listener
	slots chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.slots <- struct{}{}:
			return &limitedConn{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
		default:
			_ = c.Close()
		}
	}
}

type limitedConn struct {
	net.Conn
	free func()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.free()
	return err
}
