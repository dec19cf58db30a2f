//go:build unix

// http hooks against a real server (docs/hooks.md#fields).

package hooks

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func web(name, url string, blocking bool) Hook {
	return Hook{Phase: "before_gate", Name: name, Type: "http", URL: url, TimeoutMS: 20000, Blocking: blocking}
}

func TestHTTP(t *testing.T) {
	release := make(chan struct{})
	var elsewhere atomic.Int32
	mux := http.NewServeMux()
	answer := func(path string, status int, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	answer("/allow", 200, ` {"verdict":"allow","message":"fine"} `)
	answer("/created", 201, `{"verdict":"warn"}`)
	answer("/block", 200, `{"verdict":"block","message":"no"}`)
	answer("/empty", 204, "")
	answer("/text", 200, "ok")
	answer("/500", 500, "oh\n"+strings.Repeat("é", 300))
	answer("/404", 404, `{"verdict":"allow"}`)
	mux.HandleFunc("/302", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	mux.HandleFunc("/elsewhere", func(w http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		_, _ = io.WriteString(w, `{"verdict":"allow"}`)
	})
	mux.HandleFunc("/slow-headers", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/slow-body", func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-release:
				return
			case <-r.Context().Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	mux.HandleFunc("/1gb", func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 1<<20)
		for range 1000 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(release)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + closed.Addr().String() + "/x"
	_ = closed.Close()

	for _, tc := range []struct {
		url, action, stderr string
		exit, ms            int
	}{
		{"/allow", ActionContinued, "", 0, 0},
		{"/created", ActionWarned, "", 0, 0},
		{"/block", ActionBlocked, "", 0, 0},
		{"/empty", ActionBlockedInvalid, "", 0, 0},
		{"/text", ActionBlockedInvalid, "", 0, 0},
		{"/500", ActionBlockedFailure, "HTTP 500: oh\n" + strings.Repeat("é", 197), 1, 0},
		{"/404", ActionBlockedFailure, `HTTP 404: {"verdict":"allow"}`, 1, 0},
		{"/302", ActionBlockedFailure, "HTTP 302: ", 1, 0},
		{"/slow-headers", ActionBlockedTimeout, "timeout", 2, 150},
		{"/slow-body", ActionBlockedTimeout, "timeout", 2, 150},
		{"/1gb", ActionBlockedFailure, "the response is longer than 1048576 bytes", 1, 0},
		{refused, ActionBlockedFailure, "no connection to 127.0.0.1", 1, 0},
		{"http://", ActionBlockedFailure, "the address", 1, 0},
	} {
		t.Run(tc.url, func(t *testing.T) {
			r := project(t)
			url := tc.url
			if strings.HasPrefix(url, "/") {
				url = server.URL + url
			}
			h := web("h", url, true)
			if tc.ms > 0 {
				h.TimeoutMS = tc.ms
			}
			out := run(t, r, call(), h)
			e := out.Entries[0]
			if e.Action != tc.action || e.Transport != "http" || e.ExitCode == nil || *e.ExitCode != tc.exit ||
				e.TimedOut != (tc.ms > 0) {
				t.Errorf("%s", ojson.Compact(e.Row()))
			}
			if !strings.HasPrefix(e.Stderr, tc.stderr) || tc.stderr == "" && e.Stderr != "" {
				t.Errorf("stderr %q", e.Stderr)
			}
		})
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

// TestHTTPRequest: what the server receives, and that the secret it learns does not appear in the record.
func TestHTTPRequest(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		body, _ := io.ReadAll(r.Body)
		if r.Method != "POST" || r.Header.Get("Content-Type") != "application/json" ||
			!strings.HasPrefix(string(body), `{"hook_phase":"before_gate","hook_name":"h"`) {
			t.Errorf("%s %v %s", r.Method, r.Header, body)
		}
		if r.Header.Get("Authorization") != "Bearer from-the-environment" || r.Header.Get("X-Own") != "own-env-value" {
			t.Errorf("%v", r.Header)
		}
		if r.URL.Path == "/ok" {
			_, _ = fmt.Fprintf(w, `{"verdict":"warn","message":"you sent %s"}`, r.Header.Get("Authorization"))
			return
		}
		w.WriteHeader(403)
		_, _ = fmt.Fprintf(w, "%s not allowed", r.Header.Get("Authorization"))
	}))
	defer server.Close()
	r := project(t)
	r.Environ = func() []string { return []string{"TOKEN=from-the-environment", "OWN=wrong"} }
	for _, path := range []string{"/ok", "/bad"} {
		h := web("h", server.URL+path, false)
		h.Headers = ojson.NewObject("Authorization", "Bearer ${TOKEN}", "X-Own", "${OWN}",
			"content-type", "text/plain")
		h.Env = ojson.NewObject("OWN", "own-env-value")
		e := run(t, r, call(), h).Entries[0]
		row := string(ojson.Compact(e.Row()))
		if strings.Contains(row, "from-the") || !strings.Contains(row, "***") {
			t.Errorf("%s", row)
		}
	}
	h := web("h", server.URL, true)
	h.Headers = ojson.NewObject("A", "${NOT_SET}", "B", "${TOKEN} ${ALSO_NOT}")
	e := run(t, r, call(), h).Entries[0]
	if e.Stderr != "Unresolved HTTP hook header variables: A:NOT_SET, B:ALSO_NOT" || *e.ExitCode != 1 ||
		e.Action != ActionBlockedFailure {
		t.Errorf("%s", ojson.Compact(e.Row()))
	}
	if requests.Load() != 2 {
		t.Errorf("%d requests", requests.Load())
	}
}

// TestHTTPTamper: the guard also watches during an http hook.
func TestHTTPTamper(t *testing.T) {
	r := project(t)
	state := filepath.Join(r.Root, ".agentxchain/state.json")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = os.WriteFile(state, []byte("{}"), 0o644)
		_, _ = io.WriteString(w, `{"verdict":"allow"}`)
	}))
	defer server.Close()
	out := run(t, r, call(), web("h", server.URL, false))
	if got, _ := os.ReadFile(state); out.Tamper == nil || string(got) != stateText {
		t.Errorf("%+v, %q", out, got)
	}
}
