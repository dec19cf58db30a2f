// Where the endpoint listens, how long it waits for its peers, and how it stops.

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/listen"
)

// How long a peer may take. Loopback verifiers need milliseconds; a peer that sends a byte now and then must not
// occupy a connection.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second // header and body
	writeTimeout  = 30 * time.Second
)

// DefaultListen is the endpoint's default address.
const DefaultListen = "127.0.0.1:8788"

// Listen opens the socket of the endpoint: listen.TCP. A host that other machines can reach needs a token.
func (s *Server) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := listen.TCP(ctx, addr, listen.Options{Token: s.Token, Exposes: "run commands through it",
		GiveWith: "give it with --token-file"})
	if err != nil {
		return nil, err
	}
	s.Hosts = nil // the token decides who may ask; the names of this host are unknown
	if listen.Only(l.Addr()) {
		s.Hosts = []string{"localhost", "127.0.0.1", "::1"}
		if host, _, _ := net.SplitHostPort(addr); host != "" {
			s.Hosts = append(s.Hosts, host)
		}
	}
	return l, nil
}

// Serve answers on l until ctx is done; then it stops listening, lets running fixtures finish within grace, and
// ends the rest. When it returns, all fixture processes and scratch directories are gone. It closes l. The error is
// nil after an orderly stop.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	running, endAll := context.WithCancel(context.WithoutCancel(ctx))
	defer endAll()
	patience := s.patience
	if patience <= 0 {
		patience = readTimeout
	}
	srv := &http.Server{
		Handler:           s.handler(running),
		ReadHeaderTimeout: min(headerTimeout, patience),
		ReadTimeout:       patience,
		IdleTimeout:       headerTimeout,
		MaxHeaderBytes:    16 << 10,
		// It would only report peers' broken requests.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	srv.SetKeepAlivesEnabled(false)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		endAll()
		_ = srv.Close()
		return fmt.Errorf("the endpoint stopped: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(running, grace)
	err := srv.Shutdown(stop)
	cancel()
	if err == nil {
		return nil
	}
	// Ending a fixture takes a moment: its processes are first asked to stop.
	endAll()
	stop, cancel = context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err = srv.Shutdown(stop); err != nil {
		return errors.Join(fmt.Errorf("a fixture under way could not be ended: %w", err), srv.Close())
	}
	return nil
}
