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
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// How long a peer may take. Loopback verifiers need milliseconds; a peer that
// sends a byte now and then must not keep a connection.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second // header and body
	writeTimeout  = 30 * time.Second
	// minPublicToken is the least length of a token that guards an address other
	// machines can reach: what it guards runs commands.
	minPublicToken = 16
)

// DefaultListen is where the endpoint listens unless told otherwise.
const DefaultListen = "127.0.0.1:8788"

// AddressError says why an address is refused before a socket is opened.
type AddressError string

func (e AddressError) Error() string { return string(e) }

func badAddress(format string, args ...any) error {
	return AddressError(fmt.Sprintf(format, args...))
}

// Listen opens the socket of the endpoint. addr is HOST:PORT, :PORT or PORT;
// without HOST it is 127.0.0.1, and port 0 picks a free one. A host that other
// machines can reach needs a token. Errors about addr are AddressError.
func (s *Server) Listen(ctx context.Context, addr string) (net.Listener, error) {
	if !strings.Contains(addr, ":") {
		addr = ":" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, badAddress("invalid address %q: it must be HOST:PORT", text.Clip(addr, 100))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return nil, badAddress("invalid port %q: it must be a number from 0 to 65535", text.Clip(port, 100))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if loopbackName(host) {
		s.Hosts = []string{"localhost", "127.0.0.1", "::1", host}
	} else {
		if s.Token == "" {
			return nil,
				badAddress("listening on %s needs a token: anyone who reaches the endpoint can run commands through it",
					text.Clip(host, 100))
		}
		if len(s.Token) < minPublicToken {
			return nil, badAddress("listening on %s needs a token of at least %d characters", text.Clip(host, 100),
				minPublicToken)
		}
		s.Hosts = nil // the token says who may ask; the names of this host are unknown
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, fmt.Errorf("cannot listen on %s: %w", net.JoinHostPort(host, port), err)
	}
	return l, nil
}

// Serve answers on l until ctx is done; then it stops listening, lets the
// fixtures under way finish within grace, and ends those that do not. All
// fixtures' processes and scratch directories are gone when it returns. It
// closes l. The error is nil after an orderly stop.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	running, endAll := context.WithCancel(context.WithoutCancel(ctx))
	defer endAll()
	patience := s.patience
	if patience <= 0 {
		patience = readTimeout
	}
	srv := &http.Server{
		Handler:           s.Handler(running),
		ReadHeaderTimeout: min(headerTimeout, patience),
		ReadTimeout:       patience,
		IdleTimeout:       headerTimeout,
		MaxHeaderBytes:    16 << 10,
		// What it would say is about peers' broken requests.
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
	// Ending a fixture takes a moment: its processes are asked first.
	endAll()
	stop, cancel = context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err = srv.Shutdown(stop); err != nil {
		return errors.Join(fmt.Errorf("a fixture under way could not be ended: %w", err), srv.Close())
	}
	return nil
}
