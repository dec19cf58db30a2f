// Access control: methods, hosts, origins, tokens, and the headers of every answer.

package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// policy allows what the pages consist of and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler answers requests. It is exported for tests of clients.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	s.routes(mux)
	return pace(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				if s.opt.Log != nil {
					s.opt.Log("a request could not be answered: " + visible(asText(p)))
				}
				s.fail(w, r, http.StatusInternalServerError, "internal",
					"This page could not be made. The dashboard goes on; reload, or look with git agentxchain status.")
			}
		}()
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		switch {
		case !s.hostAllowed(w, r):
		case !s.methodAllowed(w, r):
		case !s.originAllowed(r):
			s.fail(w, r, http.StatusForbidden, "origin_not_allowed", "Another site may not read this dashboard.")
		case s.entered(w, r):
		case r.URL.Path == identityPath:
			s.identity(w)
		case r.URL.Path == "/assets/style.css" || r.URL.Path == "/assets/icon.svg":
			mux.ServeHTTP(w, r) // they are not confidential, and the refusing page uses them
		case !s.known(r):
			s.refuse(w, r)
		default:
			mux.ServeHTTP(w, r)
		}
	}), writeWait)
}

// hostAllowed accepts the names of this machine's loopback interface with our port: a name that a
// foreign server resolves to it (DNS rebinding) is refused.
func (s *Server) hostAllowed(w http.ResponseWriter, r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		if strings.ContainsAny(r.Host, "/@ \\") || r.Host == "" ||
			strings.Count(r.Host, ":") > 1 && !strings.HasPrefix(r.Host, "[") ||
			strings.Contains(r.Host, "[") != strings.Contains(r.Host, "]") {
			s.fail(w, r, http.StatusBadRequest, "malformed_host", "The Host header is not a host.")
			return false
		}
		host, port = strings.Trim(r.Host, "[]"), "80"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		s.fail(w, r, http.StatusBadRequest, "malformed_host", "The Host header names no port.")
		return false
	}
	switch strings.ToLower(host) {
	case "localhost", "127.0.0.1", "::1":
		if port == strconv.Itoa(s.port) {
			return true
		}
	}
	s.fail(w, r, http.StatusForbidden, "host_not_allowed",
		"This dashboard answers to localhost and 127.0.0.1 with its own port only.")
	return false
}

// methodAllowed answers every request that is not a GET (docs/dashboard.md#who-gets-in).
func (s *Server) methodAllowed(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodPost && s.answerAllowed(r) {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	writeJSON(w, http.StatusMethodNotAllowed, object("error",
		"Method not allowed. This dashboard only shows; gates are approved with git agentxchain approve."))
	return false
}

// originAllowed accepts requests that no page made, and those of our own pages.
func (s *Server) originAllowed(r *http.Request) bool {
	switch origin := r.Header.Get("Origin"); origin {
	case "", "http://" + r.Host:
	default:
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	// A link elsewhere may lead here; it has no cookie, so it only opens the page that says how to
	// log in.
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// cookie returns the name of the session's cookie; browsers keep cookies by host, not by port.
func (s *Server) cookie() string { return "agentxchain-" + strconv.Itoa(s.port) }

func (s *Server) isToken(t string) bool {
	return subtle.ConstantTimeCompare([]byte(t), []byte(s.token)) == 1
}

// entered turns a token or a ticket in the address into a cookie and redirects to the address
// without it, so that it stays in no history. A program that has the token in an API address is
// simply answered.
func (s *Server) entered(w http.ResponseWriter, r *http.Request) bool {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || !q.Has("token") && !q.Has("ticket") {
		return false
	}
	valid := s.isToken(q.Get("token")) || s.tickets.redeem(q.Get("ticket"), time.Now())
	if !valid && !s.known(r) {
		s.refuse(w, r)
		return true
	}
	if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/events" {
		if valid {
			r.Header.Set(tokenHeader, s.token)
		}
		return false
	}
	q.Del("token")
	q.Del("ticket")
	if valid {
		http.SetCookie(w, &http.Cookie{
			Name:     s.cookie(),
			Value:    s.token,
			Path:     "/",
			HttpOnly: true,
			SameSite: http.SameSiteStrictMode,
		})
	}
	// A path of two slashes would be another host.
	to := "/" + strings.TrimLeft(r.URL.EscapedPath(), "/\\")
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return true
}

const tokenHeader = "X-AgentXchain-Token"

// known reports whether a request has the token, in the header or the cookie.
func (s *Server) known(r *http.Request) bool {
	if t := r.Header.Get(tokenHeader); t != "" {
		return s.isToken(t)
	}
	return slices.ContainsFunc(r.CookiesNamed(s.cookie()), func(c *http.Cookie) bool { return s.isToken(c.Value) })
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, http.StatusForbidden, "invalid_token", "Valid X-AgentXchain-Token is required.")
}

// tickets are addresses that open the dashboard once, for a short time.
type tickets struct {
	mu   sync.Mutex
	open map[string]time.Time // until when
}

// newToken returns 48 random hex digits.
func newToken() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails: it crashes the process instead
	return hex.EncodeToString(b[:])
}

const ticketLife = 2 * time.Minute

func (t *tickets) issue(now time.Time) string {
	id := newToken()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil || len(t.open) > 100 {
		t.open = make(map[string]time.Time)
	}
	t.open[id] = now.Add(ticketLife)
	return id
}

func (t *tickets) redeem(id string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	until, ok := t.open[id]
	delete(t.open, id)
	return ok && now.Before(until)
}
