// Access control: requests can neither change nor end anything.

package dashboard

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestWhoMayAsk(t *testing.T) {
	dir, _ := fresh(t)
	v := serve(t, Options{Dir: dir})
	port := fmt.Sprint(v.s.Port())
	for _, c := range []struct {
		name, method, path string
		header             []string
		status             int
		says               string
	}{
		{"with the token", "GET", "/api/state", nil, 200, `"status":"active"`},
		{"without", "GET", "/api/state", []string{tokenHeader, ""}, 403,
			`{"ok":false,"code":"invalid_token","error":"Valid X-AgentXchain-Token is required."}`},
		{"a page without", "GET", "/", []string{tokenHeader, "", "Accept", "text/html"}, 403, "closed to you"},
		{"an asset without", "GET", "/assets/live.js", []string{tokenHeader, ""}, 403, "invalid_token"},
		{"the look of the page that refuses", "GET", "/assets/style.css", []string{tokenHeader, ""}, 200,
			"prefers-color-scheme"},
		{"events without", "GET", "/events", []string{tokenHeader, ""}, 403, "invalid_token"},
		{"a wrong one", "GET", "/api/state", []string{tokenHeader, strings.Repeat("a", 48)}, 403, "invalid_token"},
		{"a wrong one in the address", "GET", "/?token=nonsense", []string{tokenHeader, ""}, 403, "invalid_token"},
		{"a wrong header beats the cookie", "GET", "/api/state",
			[]string{tokenHeader, "x", "Cookie", "agentxchain-" + port + "=" + v.s.Token()}, 403, "invalid_token"},
		{"the cookie", "GET", "/api/state",
			[]string{tokenHeader, "", "Cookie", "agentxchain-" + port + "=" + v.s.Token()}, 200, "active"},
		{"the cookie of another port", "GET", "/api/state",
			[]string{tokenHeader, "", "Cookie", "agentxchain-1=" + v.s.Token()}, 403, "invalid_token"},
		{"the token in the API's address", "GET", "/api/session?token=" + v.s.Token(), []string{tokenHeader, ""}, 200,
			`"session_version":"1"`},
		{"who listens", "GET", identityPath, []string{tokenHeader, ""}, 200, `"program":"git-agentxchain dashboard"`},
		{"localhost", "GET", "/api/poll", []string{"Host", "localhost:" + port}, 200, `"ok":true`},
		{"LOCALHOST", "GET", "/api/poll", []string{"Host", "LOCALHOST:" + port}, 200, `"ok":true`},
		{"a rebound name", "GET", "/api/poll", []string{"Host", "evil.example:" + port}, 403, "host_not_allowed"},
		{"another port", "GET", "/api/poll", []string{"Host", "localhost:1"}, 403, "host_not_allowed"},
		{"no port", "GET", "/api/poll", []string{"Host", "localhost"}, 403, "host_not_allowed"},
		{"another address of this machine", "GET", "/api/poll", []string{"Host", "0.0.0.0:" + port}, 403,
			"host_not_allowed"},
		{"no number", "GET", "/api/poll", []string{"Host", "localhost:99999"}, 400, "malformed_host"},
		{"our origin", "GET", "/api/poll", []string{"Origin", v.base}, 200, `"ok":true`},
		{"another origin", "GET", "/api/poll", []string{"Origin", "http://evil.example"}, 403, "origin_not_allowed"},
		{"no origin's origin", "GET", "/api/poll", []string{"Origin", "null"}, 403, "origin_not_allowed"},
		{"another port's page", "GET", "/api/poll", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"},
			403, "origin_not_allowed"},
		{"a script of another site", "GET", "/assets/live.js",
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, 403,
			"origin_not_allowed"},
		{"POST", "POST", "/api/actions/approve-gate", nil, 405, "Method not allowed."},
		{"DELETE", "DELETE", "/", nil, 405, "Method not allowed."},
		{"OPTIONS", "OPTIONS", "/api/state", nil, 405, "Method not allowed."},
		{"what there is not", "GET", "/api/nothing", nil, 404, `{"error":"Resource not found"}`},
		{"an action", "GET", "/api/actions/approve-gate", nil, 404, `{"error":"Resource not found"}`},
		{"out of the assets", "GET", "/assets/..%2fdashboard.go", nil, 404, "not_found"},
		{"a template", "GET", "/assets/page.html", nil, 404, "not_found"},
		{"half of it", "HEAD", "/api/state", nil, 200, ""},
	} {
		status, header, body := v.fetch(c.method, c.path, c.header...)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s, want %d with %q", c.name, status, strings.TrimSpace(body), c.status, c.says)
		}
		if header.Get("Content-Security-Policy") != policy || header.Get("Access-Control-Allow-Origin") != "" ||
			header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", c.name, header)
		}
		if status == 405 && header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: Allow is %q", c.name, header.Get("Allow"))
		}
	}
}

// The printed address leads in, and not into the history; a ticket does so once.
func TestEntering(t *testing.T) {
	dir, _ := fresh(t)
	v := serve(t, Options{Dir: dir})
	enter := func(address string) (int, http.Header) {
		status, header, _ := v.fetch("GET", strings.TrimPrefix(address, v.base), tokenHeader, "")
		return status, header
	}
	for _, address := range []string{v.s.OpenURL(), v.s.OpenURL() + "&role=pm", v.s.TicketURL()} {
		status, header := enter(address)
		c := header.Get("Set-Cookie")
		if status != 303 || !strings.HasPrefix(header.Get("Location"), "/") ||
			strings.Contains(header.Get("Location"), "to") {
			t.Errorf("%s: %d to %q", address, status, header.Get("Location"))
		}
		for _, want := range []string{v.s.cookie() + "=" + v.s.Token(), "HttpOnly", "SameSite=Strict", "Path=/"} {
			if !strings.Contains(c, want) {
				t.Errorf("%s: the cookie %q lacks %q", address, c, want)
			}
		}
	}
	ticket := v.s.TicketURL()
	if status, _ := enter(ticket); status != 303 {
		t.Errorf("a fresh ticket: %d", status)
	}
	if status, header := enter(ticket); status != 403 || header.Get("Set-Cookie") != "" {
		t.Errorf("a used ticket: %d", status)
	}
	if status, header := enter(v.base + "//evil.example/?token=" + v.s.Token()); status == 303 &&
		header.Get("Location") != "/evil.example/" {
		t.Errorf("led to %q", header.Get("Location"))
	}
}

// raw sends bytes and returns the first line of the answer.
func (v *served) raw(request string) string {
	v.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(v.base, "http://"))
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		v.t.Fatal(err)
	}
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line)
}

func TestMalformedRequests(t *testing.T) {
	dir, _ := fresh(t)
	v := serve(t, Options{Dir: dir})
	for _, c := range []struct{ request, want string }{
		{"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "HTTP/1.1 400"},
		{"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "HTTP/1.1 400"},
		{"GET / HTTP/1.1\r\nHost: a:b:c\r\n\r\n", "HTTP/1.1 400"},
		{"GET / HTTP/1.1\r\nHost: localhost:port\r\n\r\n", "HTTP/1.1 400"},
		{"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
		{"GET / HTTP/1.1\r\nHost:\r\n\r\n", "HTTP/1.1 400"},
		{"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "HTTP/1.1 400"},
		{"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 400"},
		{"GET /" + strings.Repeat("a", 200<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 431"},
		{"\x00\x01\x02\r\n\r\n", "HTTP/1.1 400"},
	} {
		if got := v.raw(c.request); !strings.HasPrefix(got, c.want) {
			t.Errorf("%.60q: %q, want %q", c.request, got, c.want)
		}
	}
	v.page("/")
}

// treeOf returns the contents of a directory: bytes, and times where they matter.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		out[path] = fmt.Sprintf("%x %d %s", sha256.Sum256(data), fi.Size(), fi.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// everyAddress lists all addresses.
func everyAddress() []string {
	var out []string
	for _, p := range []string{"", "timeline", "timeline?type=accept_turn&text=x", "turns", "decisions", "event-log",
		"hooks", "integrity", "delegations", "search?q=pm", "board"} {
		out = append(out, "/"+p)
	}
	for _, p := range []string{"session", "poll", "state", "continuity", "history", "ledger", "hooks/audit",
		"hooks/annotations", "repo-decisions-summary", "events", "events?limit=0", "run-history", "chain-reports",
		"missions", "plans", "gate-actions", "watch-results", "workflow-kit-artifacts", "notifications", "connectors",
		"timeouts", "explain?of=planning_signoff", "coordinator/state", "coordinator/history", "coordinator/ledger",
		"coordinator/barriers",
		"coordinator/barrier-ledger", "coordinator/hooks/audit", "coordinator/events", "coordinator/blockers",
		"coordinator/repo-status", "coordinator/timeouts"} {
		out = append(out, "/api/"+p)
	}
	return out
}

// Looking changes nothing: no ledger, no state, no index, no cache, no ref; not even a time. An
// abandoned turn stays as it is.
func TestLookingChangesNothing(t *testing.T) {
	dir, turn := fresh(t)
	long := func() time.Time { return time.Now().Add(300 * time.Hour) }
	v := serve(t, Options{Dir: dir, Now: long, Every: 5 * time.Millisecond})
	eventually(t, "the check of the record", func() bool { return v.s.model.check.verdict().Report != nil })
	before := treeOf(t, dir)
	rounds := 5
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		rounds = 500
	}
	for range rounds {
		for _, a := range everyAddress() {
			v.fetch("GET", a, "Accept", "text/html")
		}
		v.fetch("GET", "/turns/"+turn.TurnID)
		v.fetch("GET", "/ops/"+string(v.s.model.now().Ops[0].Op))
		if err := v.s.model.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := v.page("/"); !strings.Contains(got, "overdue since") {
		t.Errorf("the turn is not overdue:\n%s", mainOf(got))
	}
	after := treeOf(t, dir)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was %s and is %s", path, was, after[path])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files were %d", len(after), len(before))
	}
}

// A line that is not a row is skipped and reported; the rest is served.
func TestBadLines(t *testing.T) {
	dir, _ := fresh(t)
	path := filepath.Join(dir, filepath.FromSlash(wire.LedgerEvents.Path()))
	v := serve(t, Options{Dir: dir})
	good := len(v.api("events?limit=0", 200).([]any))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString("{\"half\": \n[1,2]\nnull\n\xff\xfe\n\n{\"a\":1,\"a\":2}\n" + strings.Repeat("[", 100_000) +
		"\n" +
		string(ojson.Compact(ojson.NewObject("event_type", "<script>alert(1)</script>",
			"timestamp", "2026-01-01T00:00:00.000Z"))) +
		"\n{\"unfinished\":")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "reading the lines", func() bool { return len(v.api("events?limit=0", 200).([]any)) == good+1 })
	got := v.page("/event-log")
	if !strings.Contains(got, "6 lines are left out") || !strings.Contains(got, "&lt;script&gt;alert(1)") ||
		strings.Contains(got, "<script>alert") {
		t.Errorf("the events:\n%s", mainOf(got))
	}
	for _, a := range everyAddress() {
		if status, _, body := v.fetch("GET", a, "Accept", "text/html"); status >= 500 &&
			!strings.Contains(body, "tampered") && !strings.Contains(body, "ledger") {
			t.Errorf("%s: %d %s", a, status, mainOf(body))
		}
	}
}

// Many clients at once, and some that never read: the server lives and answers.
func TestManyClients(t *testing.T) {
	dir, _ := fresh(t)
	v := serve(t, Options{Dir: dir})
	var stuck []net.Conn
	for range 50 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(v.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		stuck = append(stuck, conn)
		_, _ = fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n\r\n",
			strings.TrimPrefix(v.base, "http://"), tokenHeader, v.s.Token())
	}
	defer func() {
		for _, c := range stuck {
			_ = c.Close()
		}
	}()
	clients := 200
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		clients = 1000
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	failed := make(chan error, clients)
	for i := range clients {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				v.base+[]string{"/", "/api/state", "/timeline", "/api/events"}[i%4], nil)
			if err != nil {
				failed <- err
				return
			}
			req.Header.Set(tokenHeader, v.s.Token())
			resp, err := client.Do(req)
			if err != nil {
				failed <- err
				return
			}
			defer func() { _ = resp.Body.Close() }()
			if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || len(body) == 0 {
				failed <- fmt.Errorf("%s: %d %w", req.URL, resp.StatusCode, err)
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	v.page("/")
}
