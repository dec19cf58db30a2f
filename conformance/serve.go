// The endpoint through which other verifiers examine this program, http-fixture-v1
// (docs/conformance.md#the-endpoint).

package conformance

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// MaxRequestBytes bounds the body of a request to the endpoint. The fixtures of
// the public corpus stay below 10 KiB.
const MaxRequestBytes = 1 << 20

// Server answers GET /conform/capabilities and POST /conform/execute.
//
// A fixture may name commands (run_hooks), so executing one executes what its sender chose. Every fixture therefore
// gets its own process with a scratch directory, a deadline and an environment without secrets, and all three end
// with it. Fixtures without commands are treated the same: one that exhausts the stack or spins could not be
// stopped inside this process.
type Server struct {
	Command      []string      // argv of the stdio adapter; the program's path is absolute
	Environ      []string      // environment of the adapter; variables for the scratch directory are added
	Capabilities *ojson.Object // the document served
	Token        string        // required of every request if not empty
	Hosts        []string      // host names that requests may use, without port; any if empty
	Timeout      time.Duration // total time of one fixture; DefaultTimeout when 0
	Jobs         int           // concurrent fixtures; 1 when 0
	Queue        int           // requests that may wait for their turn; further ones get 503
	// Log receives one line per request, one at a time; nil for none. Lines contain neither tokens nor fixtures.
	Log func(line string)

	patience time.Duration // for a request to arrive; readTimeout when 0
}

// handler returns the endpoint. Running fixtures are ended when ctx is done.
func (s *Server) handler(ctx context.Context) http.Handler {
	e := &endpoint{Server: s, ends: ctx, want: sha256.Sum256([]byte("Bearer " + s.Token)),
		slots: make(chan struct{}, max(1, s.Jobs)), places: make(chan struct{}, max(1, s.Jobs)+max(0, s.Queue))}
	return http.HandlerFunc(e.serve)
}

// endpoint is a running Server.
type endpoint struct {
	*Server
	ends   context.Context
	want   [sha256.Size]byte // of the expected Authorization header
	places chan struct{}     // held from arrival to answer
	slots  chan struct{}     // held while a fixture runs
	log    sync.Mutex
}

// reply is an answer about to be sent.
type reply struct {
	status int
	body   *ojson.Object
	header [2]string
}

func says(status int, format string, args ...any) reply {
	return reply{status: status, body: ojson.NewObject("message", fmt.Sprintf(format, args...))}
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	conn := http.NewResponseController(w)
	a := e.respond(conn, r)
	data := ojson.Compact(a.body)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Connection", "close")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if a.header[0] != "" {
		h.Set(a.header[0], a.header[1])
	}
	_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	w.WriteHeader(a.status)
	_, _ = w.Write(data)
	if e.Log != nil {
		e.log.Lock()
		defer e.log.Unlock()
		e.Log(fmt.Sprintf("%s %s %s %d %dB %dms", r.RemoteAddr, quoted(r.Method), quoted(r.URL.Path), a.status,
			len(data), time.Since(start).Milliseconds()))
	}
}

// quoted formats text from the peer for a log line.
func quoted(s string) string {
	if q := strconv.QuoteToASCII(text.Clip(s, 100)); len(q) != len(s)+2 || strings.ContainsRune(s, ' ') {
		return q
	}
	return s
}

// respond checks in the order of docs/conformance.md#the-endpoint: place, method, token, body.
func (e *endpoint) respond(conn *http.ResponseController, r *http.Request) reply {
	if a, refused := e.stranger(r); refused {
		return a
	}
	method := map[string]string{
		"/conform/capabilities": http.MethodGet,
		"/conform/execute":      http.MethodPost,
	}[r.URL.Path]
	switch {
	case method == "" || r.URL.RawQuery != "" || r.URL.ForceQuery:
		return says(http.StatusNotFound, "Not found")
	case r.Method != method:
		a := says(http.StatusMethodNotAllowed, "Method not allowed")
		a.header = [2]string{"Allow", method}
		return a
	case !e.admitted(r):
		a := says(http.StatusUnauthorized, "Unauthorized")
		a.header = [2]string{"WWW-Authenticate", "Bearer"}
		return a
	case method == http.MethodGet:
		return reply{status: http.StatusOK, body: e.Capabilities}
	}
	return e.execute(conn, r)
}

// stranger refuses what only a browser sends: a web page must not be able to run commands on its visitor's machine,
// neither by a cross-origin request nor under a host name of its own that resolves to this machine.
func (e *endpoint) stranger(r *http.Request) (reply, bool) {
	if r.Header.Get("Origin") != "" {
		return says(http.StatusForbidden, "requests from web pages are refused"), true
	}
	if len(e.Hosts) == 0 {
		return reply{}, false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	for _, name := range e.Hosts {
		if strings.EqualFold(name, host) {
			return reply{}, false
		}
	}
	return says(http.StatusForbidden, "the Host header names another host"), true
}

// admitted compares digests, so that timing reveals neither content nor length of the token.
func (e *endpoint) admitted(r *http.Request) bool {
	if e.Token == "" {
		return true
	}
	got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	return subtle.ConstantTimeCompare(got[:], e.want[:]) == 1
}

func (e *endpoint) execute(conn *http.ResponseController, r *http.Request) reply {
	if r.ContentLength > MaxRequestBytes {
		return tooLarge()
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, MaxRequestBytes+1))
	switch {
	case err != nil:
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return says(http.StatusRequestTimeout, "the body did not arrive in time")
		}
		return says(http.StatusBadRequest, "the body cannot be read")
	case len(data) > MaxRequestBytes:
		return tooLarge()
	}
	doc, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: MaxRequestBytes, Depth: maxFixtureDepth})
	if err != nil {
		return says(http.StatusBadRequest, "Invalid JSON: %v", err)
	}
	// The request has been read; from here on a read deadline would end slow fixtures.
	_ = conn.SetReadDeadline(time.Time{})
	select {
	case e.places <- struct{}{}:
		defer func() { <-e.places }()
	default:
		a := says(http.StatusServiceUnavailable, "too many fixtures wait already")
		a.header = [2]string{"Retry-After", "1"}
		return a
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(e.ends, cancel)()
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return endedEarly()
	}
	return e.run(ctx, doc)
}

func tooLarge() reply {
	return says(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", MaxRequestBytes)
}

func endedEarly() reply {
	return says(http.StatusServiceUnavailable, "the endpoint is being shut down")
}
