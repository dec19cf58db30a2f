// The HTTP surface: routes, envelopes, the common path of every request.

package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Paths besides those of the protocol.
const (
	pathHealth  = "/healthz"
	pathReady   = "/readyz"
	pathMetrics = "/metrics"
)

// How long a client may take to send a body, and to take an answer.
const (
	bodyTime  = 30 * time.Second
	writeTime = 30 * time.Second
)

// call is one request in progress.
type call struct {
	w           http.ResponseWriter
	r           *http.Request
	correlation string
	id          string // the {id} of the path
	status      int
	attrs       []any // of the log line
	untimed     bool  // a stream, or a solve that was waited for
	solving     bool  // a request to solve
	release     func()
}

// route is a path that the server answers.
type route struct {
	name    string
	methods []string
	handle  func(*Server, *call) *alx.Error
}

// routes finds the route of a path, nil for none, and the id in it.
func routes(path string) (*route, string) {
	get := []string{http.MethodGet, http.MethodHead}
	switch path {
	case alx.PathService, alx.PathService + "/":
		return &route{alx.PathService, get, (*Server).info}, ""
	case alx.PathOpenAPI:
		return &route{alx.PathOpenAPI, get, (*Server).openAPI}, ""
	case alx.PathSolve:
		return &route{alx.PathSolve, []string{http.MethodPost}, (*Server).solve}, ""
	case alx.PathSessions:
		return &route{alx.PathSessions, get, (*Server).sessions}, ""
	case pathHealth:
		return &route{pathHealth, get, (*Server).health}, ""
	case pathReady:
		return &route{pathReady, get, (*Server).readiness}, ""
	case pathMetrics:
		return &route{pathMetrics, get, (*Server).measurements}, ""
	}
	if id, ok := strings.CutPrefix(path, alx.PathSessions+"/"); ok && id != "" && !strings.Contains(id, "/") {
		return &route{alx.PathSessions + "/{id}", get, (*Server).session}, id
	}
	if rest, ok := strings.CutPrefix(path, alx.PathRuns+"/"); ok {
		if id, ok := strings.CutSuffix(rest, "/events"); ok && id != "" && !strings.Contains(id, "/") {
			return &route{alx.PathRuns + "/{id}/events", get, (*Server).events}, id
		}
	}
	return nil, ""
}

// handler returns the server's HTTP handler, for Serve and for tests.
func (s *Server) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		c := &call{w: w, r: r, correlation: r.Header.Get(alx.HeaderCorrelationID)}
		given := alx.SaneCorrelationID(c.correlation)
		if !given {
			c.correlation = alx.NewCorrelationID()
		}
		to, id := routes(r.URL.Path)
		name := "other"
		if to != nil {
			name, c.id = to.name, id
			c.solving = name == alx.PathSolve
		}
		s.answer(c, to)
		took := time.Since(began)
		method := r.Method
		if !slices.Contains([]string{"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"}, method) {
			method = "other"
		}
		s.opt.Meter.Answered(name, method, c.status, took, !c.untimed)
		if name == pathHealth || name == pathReady || name == pathMetrics {
			return
		}
		s.log.LogAttrs(context.Background(), level(c.status), "request", append([]slog.Attr{
			slog.String("method", method), slog.String("route", name), slog.Int("status", c.status),
			slog.Float64("durationMs", float64(took.Microseconds())/1000), slog.String("correlationId",
				c.correlation), slog.String("remote", r.RemoteAddr)},
			attrs(c.attrs)...)...)
	})
}

func attrs(pairs []any) []slog.Attr {
	var out []slog.Attr
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, slog.Any(pairs[i].(string), pairs[i+1]))
	}
	return out
}

func level(status int) slog.Level {
	if status >= 500 && status != http.StatusServiceUnavailable {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// answer passes a request through the guards to its route. A failure, a panic included, becomes the
// envelope of a failure.
func (s *Server) answer(c *call, to *route) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.log.Error("a defect", "route", c.r.URL.Path, "panic", fmt.Sprint(p), "correlationId", c.correlation)
			if c.status == 0 {
				c.fail(alx.Errorf(alx.CodeInternal,
					"A defect of the service; the correlation id finds it in its log."))
			}
		}
	}()
	h := c.w.Header()
	h.Set(alx.HeaderProtocolVersion, alx.Version)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTime))
	if c.r.ContentLength != 0 {
		// Otherwise the library waits without limit for the rest of a body that no handler reads before it sends the
		// answer.
		h.Set("Connection", "close")
	}
	if why := s.admitted(c.r); why != nil {
		if why.Code == alx.CodeUnauthorized {
			h.Set("WWW-Authenticate", `Bearer realm="alx"`)
		}
		c.fail(why)
		return
	}
	if to == nil {
		c.fail(alx.Errorf(alx.CodeNotFound, "There is no %s here.", clip(strconv.Quote(c.r.URL.Path))))
		return
	}
	allow := strings.Join(append(slices.Clip(to.methods), http.MethodOptions), ", ")
	switch {
	case c.r.Method == http.MethodOptions:
		h.Set("Allow", allow)
		h.Set(alx.HeaderCorrelationID, c.correlation)
		c.status = http.StatusNoContent
		c.w.WriteHeader(c.status)
		return
	case !slices.Contains(to.methods, c.r.Method):
		h.Set("Allow", allow)
		c.fail(alx.Errorf(alx.CodeMethodNotAllowed, "%s takes %s.", to.name, allow))
		return
	}
	release, ok := take(s.busyIO.requests)
	if !ok {
		c.fail(tooMany())
		return
	}
	c.release = release
	defer c.free()
	if why := to.handle(s, c); why != nil {
		c.fail(why)
	}
}

// free gives up the request's slot early: a request that only waits needs none.
func (c *call) free() {
	if c.release != nil {
		c.release()
		c.release = nil
	}
}

// fail answers with the envelope of a failure; that of a solve also says success false.
func (c *call) fail(why *alx.Error) {
	c.attrs = append(c.attrs, "code", why.Code)
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTime)) // the body used up the time
	answer := alx.NewFailure(c.correlation, why)
	if c.solving {
		answer.Success = new(false)
	}
	c.send(alx.HTTPStatus(why.Code), alx.Encode(answer))
}

// send answers with an encoded document.
func (c *call) send(status int, body []byte) {
	h := c.w.Header()
	h.Set(alx.HeaderCorrelationID, c.correlation)
	h.Set("Content-Type", alx.MediaJSON)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "2")
	}
	if n := len(body); n == 0 || body[n-1] != '\n' {
		body = append(body, '\n')
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.status = status
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(body) // a client that misses the answer gets it when it asks again
	}
}

// wantsJSON refuses a request that would not take JSON.
func (c *call) wantsJSON() *alx.Error {
	if quality(c.r.Header.Values("Accept"), alx.MediaJSON) == 0 {
		return alx.Errorf(alx.CodeNotAcceptable, "This path answers in %s.", alx.MediaJSON)
	}
	return nil
}

// quality returns how welcome a media type is to an Accept header, 0 to 1; without a header
// everything is. The most specific range decides (RFC 9110 §12.5.1).
func quality(accept []string, media string) float64 {
	if len(accept) == 0 || len(accept) == 1 && strings.TrimSpace(accept[0]) == "" {
		return 1
	}
	kind, _, _ := strings.Cut(media, "/")
	q, rank := 0.0, 0
	for _, header := range accept {
		for part := range strings.SplitSeq(header, ",") {
			rng, params, _ := strings.Cut(part, ";")
			this := 0
			switch strings.ToLower(strings.TrimSpace(rng)) {
			case media:
				this = 3
			case kind + "/*":
				this = 2
			case "*/*":
				this = 1
			}
			if this <= rank {
				continue
			}
			rank, q = this, 1
			for p := range strings.SplitSeq(params, ";") {
				if v, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(p)), "q="); ok {
					if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 && n <= 1 {
						q = n
					}
				}
			}
		}
	}
	return q
}

// number reads a query parameter that is a number from 1 to most.
func (c *call) number(name string, otherwise, most int) (int, *alx.Error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, alx.Errorf(alx.CodeInvalidRequest, "%s takes a number from 1 to %d.", name, most).With("field", name)
	}
	return n, nil
}

func (s *Server) info(c *call) *alx.Error {
	if why := c.wantsJSON(); why != nil {
		return why
	}
	c.send(http.StatusOK, alx.Encode(alx.NewServiceInfo(c.correlation, s.opt.Service)))
	return nil
}

func (s *Server) openAPI(c *call) *alx.Error {
	if why := c.wantsJSON(); why != nil {
		return why
	}
	if s.opt.OpenAPI == nil {
		return alx.Errorf(alx.CodeNotFound, "This service has no OpenAPI document.")
	}
	doc, err := s.opt.OpenAPI()
	if err != nil {
		return alx.Errorf(alx.CodeInternal, "The OpenAPI document cannot be made.")
	}
	c.send(http.StatusOK, doc)
	return nil
}

// health says that the process answers.
func (s *Server) health(c *call) *alx.Error {
	c.send(http.StatusOK, alx.Encode(alx.NewEnvelope(true, c.correlation)))
	return nil
}

// readiness says whether a solve would be accepted now.
func (s *Server) readiness(c *call) *alx.Error {
	select {
	case <-s.ending:
		if !s.known(c.r) {
			return alx.Errorf(alx.CodeUnavailable, "The service takes no solve requests now; its log says why.")
		}
		return alx.Errorf(alx.CodeShuttingDown, "The service is shutting down.")
	default:
	}
	if err := s.prepared.get(c.r.Context(), s.ready); err != nil {
		if !s.known(c.r) {
			return alx.Errorf(alx.CodeUnavailable, "The service takes no solve requests now; its log says why.")
		}
		return failure(err)
	}
	return s.health(c)
}

func (s *Server) measurements(c *call) *alx.Error {
	h := s.opt.Meter.Handler()
	if h == nil {
		return alx.Errorf(alx.CodeNotFound, "This service takes no measurements.")
	}
	c.status = http.StatusOK
	h.ServeHTTP(c.w, c.r)
	return nil
}
