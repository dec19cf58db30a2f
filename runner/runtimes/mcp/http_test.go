// Servers over streamable HTTP, sound and broken.

package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// webServer returns a server over streamable HTTP, made with the SDK.
func webServer(t *testing.T, mode string, wrap func(http.Handler) http.Handler) *httptest.Server {
	t.Helper()
	s := newServer(mode)
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	if wrap != nil {
		h = wrap(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv
}

func TestStreamableHTTP(t *testing.T) {
	var mu sync.Mutex
	var versions, keys, accepts []string
	srv := webServer(t, "slow", func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			versions, keys, accepts = append(versions, r.Header.Get("Mcp-Protocol-Version")),
				append(keys, r.Header.Get("X-Key")), append(accepts, r.Header.Get("Accept"))
			mu.Unlock()
			h.ServeHTTP(w, r)
		})
	})
	w := newWorld(t, "transport", "streamable_http", "url", srv.URL+"/mcp",
		"headers", ojson.NewObject("X-Key", "s3cret-${HOME}"))
	w.req.Role = "patient"
	out := w.dispatch(context.Background())
	if out.Kind != runtimes.Returned {
		t.Fatalf("outcome %+v", out)
	}
	for i, k := range keys {
		if k != "s3cret-${HOME}" {
			t.Errorf("request %d has the header %q", i, k)
		}
	}
	if !strings.Contains(accepts[0], "application/json") || !strings.Contains(accepts[0], "text/event-stream") ||
		versions[len(versions)-1] != handshake {
		t.Errorf("accept %q, versions %q", accepts[0], versions)
	}
	if strings.Contains(w.log.String()+out.Reason, "s3cret") {
		t.Error("a header is in the log")
	}
}

func TestHTTPFaults(t *testing.T) {
	testrepo.Serving(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "" {
			panic("the key went elsewhere")
		}
	}))
	defer other.Close()
	call := func(r *http.Request) bool { // of the tool itself
		return r.Header.Get("Mcp-Session-Id") != "" && r.Method == http.MethodPost && r.ContentLength > 300
	}
	for _, c := range []struct {
		name, kind, class string
		fault             func(w http.ResponseWriter, r *http.Request) bool
	}{
		{"401", runtimes.Blocked, runtimes.ClassAuth,
			func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(401); return true }},
		{"404", runtimes.Blocked, ClassConnection,
			func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(404); return true }},
		{"429", runtimes.Blocked, runtimes.ClassRateLimited, func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(429)
			return true
		}},
		{"500", runtimes.Blocked, ClassConnection,
			func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(500); return true }},
		{"redirect", runtimes.Blocked, ClassConnection, func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return true
		}},
		{"another protocol", runtimes.Blocked, ClassConnection, func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "chat")
			_, _ = io.Copy(io.Discard, r.Body) // else its end is not noticed
			w.WriteHeader(http.StatusSwitchingProtocols)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		}},
		{"html", runtimes.Blocked, ClassConnection, func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>welcome</html>"))
			return true
		}},
		{"not json", runtimes.Blocked, ClassConnection, func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{]"))
			return true
		}},
		{"truncated stream", runtimes.Blocked, ClassConnection, func(w http.ResponseWriter, r *http.Request) bool {
			if !call(r) {
				return false
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"resu"))
			return true
		}},
		{"empty stream", runtimes.Blocked, ClassConnection, func(w http.ResponseWriter, r *http.Request) bool {
			if !call(r) {
				return false
			}
			w.Header().Set("Content-Type", "text/event-stream")
			return true
		}},
		{"500 on the call", runtimes.Blocked, ClassConnection, func(w http.ResponseWriter, r *http.Request) bool {
			if !call(r) {
				return false
			}
			w.WriteHeader(500)
			return true
		}},
		{"slow", runtimes.TimedOut, runtimes.ClassTimeout, func(w http.ResponseWriter, r *http.Request) bool {
			if !call(r) {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return true
		}},
		{"questions", runtimes.Blocked, ClassFlood, func(w http.ResponseWriter, r *http.Request) bool {
			if answer := r.Method == http.MethodPost && r.ContentLength < 45; answer || !call(r) {
				if answer {
					w.WriteHeader(http.StatusAccepted)
				}
				return answer
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for n := 1; ; n++ {
				if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n", n); err != nil {
					return true
				}
			}
		}},
		{"endless", runtimes.Blocked, ClassFlood, func(w http.ResponseWriter, r *http.Request) bool {
			if !call(r) {
				return false
			}
			w.Header().Set("Content-Type", "text/event-stream")
			noise := []byte(strings.Repeat(": nothing to say\n\n", 10000))
			for {
				if _, err := w.Write(noise); err != nil {
					return true
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := webServer(t, "structured", func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !c.fault(w, r) {
						h.ServeHTTP(w, r)
					}
				})
			})
			w := newWorld(t, "transport", "streamable_http", "url", srv.URL+"/mcp?token=tok-in-query",
				"headers", ojson.NewObject("X-Key", "s3cret-header"))
			w.req.Deadline = time.Now().Add(20 * time.Second)
			if c.kind == runtimes.TimedOut {
				w.req.Deadline = time.Now().Add(500 * time.Millisecond)
			}
			out := w.dispatch(context.Background())
			if out.Kind != c.kind || out.Class != c.class {
				t.Fatalf("outcome %+v", out)
			}
			if c.name == "429" && out.RetryAfter != 7*time.Second {
				t.Errorf("retry after %s", out.RetryAfter)
			}
			if all := out.Reason + out.Recovery + w.log.String(); strings.Contains(all, "s3cret-header") ||
				strings.Contains(all, "tok-in-query") {
				t.Errorf("a secret is told: %s", all)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	out := newWorld(t, "transport", "streamable_http", "url", srv.URL).dispatch(context.Background())
	if out.Kind != runtimes.Blocked || out.Class != ClassConnection || !out.Retryable ||
		!strings.Contains(out.Reason, "refused") {
		t.Errorf("outcome %+v", out)
	}
}
