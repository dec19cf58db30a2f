// Access control: tokens, hosts, pages of other sites, and concurrency.

package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/git-agentxchain/git-agentxchain/internal/crowd"
	"github.com/git-agentxchain/git-agentxchain/internal/listen"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// hosts says what the Host header may contain. On loopback only names of this machine may be in it:
// a page whose own name resolves to 127.0.0.1 must not reach us (DNS rebinding).
type hosts struct {
	listening atomic.Bool
	loopback  atomic.Bool
}

func (h *hosts) listen(a net.Addr) {
	h.loopback.Store(listen.Only(a))
	h.listening.Store(true)
}

// ready reports whether the server listens: until then it carries out nothing.
func (h *hosts) ready() bool { return h.listening.Load() }

// admitted refuses requests from pages, for foreign hosts and without the token. Health reveals
// nothing and is open to every client that can connect.
func (s *Server) admitted(r *http.Request) *alx.Error {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if s.host.loopback.Load() && !listen.Local(host) {
		return alx.Errorf(alx.CodeForbidden, "The host %q is not served here.", clip(r.Host))
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) {
			return alx.Errorf(alx.CodeForbidden, "Pages of other sites are not served.")
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return alx.Errorf(alx.CodeForbidden, "Pages of other sites are not served.")
	}
	if open(r.URL.Path) || s.known(r) {
		return nil
	}
	return alx.Errorf(alx.CodeUnauthorized, "A bearer token is missing or wrong.")
}

// known reports whether a request has the token, or none is required.
func (s *Server) known(r *http.Request) bool {
	if s.opt.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	have, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(s.opt.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(have[:], want[:]) == 1
}

func open(path string) bool { return path == pathHealth || path == pathReady }

// clip shortens a foreign text for a message.
func clip(s string) string { return text.Clip(s, 100) }

// Most of each kind of request at a time.
const (
	maxRequests = 256  // answered from memory, or accepted
	maxWaiting  = 2048 // solves that are waited for
	maxStreams  = 1024 // event streams
	maxBodies   = 1024 // solves whose body is still arriving

	maxConnections = 4608     // all of these, and some that are idle
	maxBodyBytes   = 64 << 20 // of all the bodies that have not arrived completely
)

// limits counts what is under way.
type limits struct {
	requests, waits, streams, bodies chan struct{}

	bytes *crowd.Bodies
}

func newLimits() limits {
	return limits{
		requests: make(chan struct{}, maxRequests),
		waits:    make(chan struct{}, maxWaiting),
		streams:  make(chan struct{}, maxStreams),
		bodies:   make(chan struct{}, maxBodies),
		bytes:    crowd.NewBodies(maxBodyBytes, errBodies),
	}
}

// take takes one slot of a limit; release gives it back.
func take(limit chan struct{}) (release func(), ok bool) {
	select {
	case limit <- struct{}{}:
		return func() { <-limit }, true
	default:
		return nil, false
	}
}

// errBodies is the error of reading one more byte when all bodies together have reached their limit.
var errBodies = errors.New("the bodies of all requests are as large as they may be")

func tooMany() *alx.Error {
	return alx.Errorf(alx.CodeTooManyRequests, "Too much is under way; try again later.")
}
