// The service on the network: gRPC over HTTP/2, its limits, and access control.

package control

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/git-agentxchain/git-agentxchain/internal/crowd"
)

// serviceName is the name of the service in its .proto.
const serviceName = "monarchic.agent_protocol.v1.RunnerControlService"

// Serve answers calls on l until ctx ends, then waits at most grace for those under way. It closes
// l.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	health := newHealth(serviceName)
	limited := crowd.Limit(l, maxConnections)
	// There is no IdleTimeout. The library restarts its timer for each stream that is closed with its connection, and
	// that timer keeps the whole connection in memory until it ends. Pings find connections whose other end is gone,
	// and idle ones make room for others.
	h := &http.Server{
		Handler:           s.handler(health),
		Protocols:         new(http.Protocols),
		ReadHeaderTimeout: 20 * time.Second, // of the TLS handshake too
		MaxHeaderBytes:    32 << 10,
		ConnState:         limited.State,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerConnection: maxUnread,
			MaxReceiveBufferPerStream:     maxUnread / 2,
			SendPingTimeout:               time.Minute,
			PingTimeout:                   20 * time.Second,
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	ended := make(chan error, 1)
	if s.opt.TLS != nil {
		h.Protocols.SetHTTP2(true)
		h.TLSConfig = s.opt.TLS.Clone()
		go func() { ended <- h.ServeTLS(limited, "", "") }()
	} else {
		h.Protocols.SetUnencryptedHTTP2(true)
		go func() { ended <- h.Serve(limited) }()
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	health.shutdown() // watching clients go elsewhere
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if h.Shutdown(last) != nil {
		_ = h.Close()
	}
	if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler has a path for every method of the service and of the health service.
func (s *Server) handler(health *health) http.Handler {
	mux := http.NewServeMux()
	limits := connect.WithHandlerOptions(
		connect.WithReadMaxBytes(maxMessage),
		connect.WithSendMaxBytes(maxMessage),
		connect.WithCompression("gzip", nil, nil), // a small message can be a large one
	)
	health.register(mux, limits)
	ours := connect.WithHandlerOptions(
		limits,
		connect.WithRequestGate(s.gate),
		connect.WithInterceptors(connect.UnaryInterceptorFunc(s.intercept)),
	)
	method(mux, "RegisterRunner", s.RegisterRunner, ours)
	method(mux, "Heartbeat", s.Heartbeat, ours)
	method(mux, "AcquireLease", s.AcquireLease, ours)
	method(mux, "RenewLease", s.RenewLease, ours)
	method(mux, "ResumeLease", s.ResumeLease, ours)
	method(mux, "ReportStepStarted", s.ReportStepStarted, ours)
	method(mux, "ReportStepProgress", s.ReportStepProgress, ours)
	method(mux, "ReportStepOutcome", s.ReportStepOutcome, ours)
	method(mux, "AckCancellation", s.AckCancellation, ours)
	registerReflection(mux, limits, connect.WithRequestGate(s.gate))
	bodies := crowd.NewBodies(maxBodyBytes,
		refuse(connect.CodeResourceExhausted, "the messages of all calls are as large as they may be; try again"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// gRPC and nothing else: web pages can send neither this type nor HTTP/2 without TLS.
		if kind := r.Header.Get("Content-Type"); kind != "application/grpc" && kind != "application/grpc+proto" {
			http.Error(w, "this is a gRPC service", http.StatusUnsupportedMediaType)
			return
		}
		// A request arrives in time; Watch of the health service only writes after it.
		limit := callLimit
		if strings.HasPrefix(r.URL.Path, healthPath) {
			limit = watchLimit
		}
		// (A deadline of the stream would outlive one that is cancelled, and hold its connection.)
		unread := r.Body
		late := time.AfterFunc(limit, func() { _ = unread.Close() })
		defer late.Stop()
		body, done := bodies.Read(w, unread, maxMessage+1024)
		defer done()
		r.Body = body
		mux.ServeHTTP(w, r)
	})
}

func method[Req, Res any](
	mux *http.ServeMux,
	name string,
	answer func(context.Context, *Req) (*Res, error),
	options connect.HandlerOption,
) {
	path := "/" + serviceName + "/" + name
	mux.Handle(path, connect.NewUnaryHandlerSimple(path, answer, options))
}

// refuse returns the gRPC status of a request that no answer can express.
func refuse(code connect.Code, format string, args ...any) error {
	return connect.NewError(code, fmt.Errorf(format, args...))
}

// ask is what every request has.
type ask interface {
	GetContractVersion() string
	GetRunnerId() string
}

// newCall begins the log line of a call.
func (s *Server) newCall(spec connect.Spec, peer connect.Peer) Call {
	return Call{
		At:     s.opt.Now(),
		Method: spec.Procedure[strings.LastIndexByte(spec.Procedure, '/')+1:],
		Peer:   peer.Addr,
	}
}

// gate checks who asks, before every call and before its message is read.
func (s *Server) gate(
	_ context.Context, spec connect.Spec, peer connect.Peer, header http.Header,
) (context.Context, error) {
	if s.authorized(header) {
		return nil, nil
	}
	err := refuse(connect.CodeUnauthenticated, "a bearer token is required, and this one is not it")
	call := s.newCall(spec, peer)
	describe(&call, nil, nil, err)
	s.opt.Log(call)
	return nil, err
}

// intercept wraps every call: it limits the time, logs the call, and makes a defect end a call and
// not the server.
func (s *Server) intercept(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (res connect.AnyResponse, err error) {
		call := s.newCall(req.Spec(), req.Peer())
		begun := time.Now()
		defer func() {
			if p := recover(); p != nil {
				err = refuse(connect.CodeInternal, "this is a defect in git-agentxchain: %v", p)
				call.Detail = oneLine(string(debug.Stack()), 2000)
			}
			call.Duration = time.Since(begun)
			var out any
			if err == nil {
				out = res.Any()
			}
			describe(&call, req.Any(), out, err)
			s.opt.Log(call)
		}()
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
			return nil, refuse(connect.CodeResourceExhausted, "too many calls are being answered; try again")
		}
		if a, ok := req.Any().(ask); ok {
			if err := checkAsk(a); err != nil {
				return nil, err
			}
		}
		if err := s.here(); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

// authorized compares tokens in a time that does not reveal how much of one is right.
func (s *Server) authorized(header http.Header) bool {
	if s.opt.Token == "" {
		return true
	}
	good := 0
	for _, v := range header.Values("Authorization") {
		scheme, token, _ := strings.Cut(v, " ")
		if !strings.EqualFold(scheme, "bearer") {
			continue
		}
		sum := sha256.Sum256([]byte(token))
		good |= subtle.ConstantTimeCompare(sum[:], s.token[:])
	}
	return good == 1
}
