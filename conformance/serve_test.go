// The endpoint over real sockets: every row of docs/conformance.md#the-endpoint, and
// peers and fixtures that misbehave.

package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

const eventFixture = `{"fixture_id":"X","tier":1,"surface":"event_lifecycle","description":"d","type":"validate","setup":{},` +
	`"input":{"operation":"validate_event_ordering","args":{"events":[]}},"expected":{"error_type":"invalid_events"}}`

// served is an endpoint under test.
type served struct {
	url, tmp string
	log      *strings.Builder
	stop     func() error // asks it to stop and waits for that
}

// serveFor starts an endpoint whose adapter is the test binary in a mode of adapterVariable, with its own temporary
// directory.
func serveFor(t *testing.T, mode string, change func(*Server)) *served {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	v := &served{tmp: t.TempDir(), log: &strings.Builder{}}
	t.Setenv("TMPDIR", v.tmp)
	s := &Server{
		Command: []string{self}, Environ: append(EndpointEnviron(os.Getenv), adapterVariable+"="+mode),
		Capabilities: OwnCapabilities("1", "v7", ProtocolHTTP, nil), Jobs: 2, Queue: 100,
		Log: func(line string) { fmt.Fprintln(v.log, line) },
	}
	if change != nil {
		change(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l, err := s.Listen(ctx, "0")
	if err != nil {
		t.Fatal(err)
	}
	v.url = "http://" + l.Addr().String()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, time.Second) }()
	v.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := v.stop(); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(v.tmp)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return v
}

// ask sends one request; header is NAME: VALUE, and Host sets the host.
func (v *served) ask(t *testing.T, method, path, body string, header ...string) (int, *ojson.Object, http.Header) {
	t.Helper()
	req, err := http.NewRequest(method, v.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range header {
		k, val, _ := strings.Cut(h, ": ")
		if req.Header.Set(k, val); k == "Host" {
			req.Host = val
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Content-Type") != "application/json" || !resp.Close {
		t.Errorf("%s %s: header %v", method, path, resp.Header)
	}
	if method == http.MethodHead {
		return resp.StatusCode, nil, resp.Header
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatalf("%s %s: %v in %q", method, path, err, data)
	}
	return resp.StatusCode, o, resp.Header
}

func TestServeTable(t *testing.T) {
	v := serveFor(t, "1", func(s *Server) { s.Token = "s3cret-token" })
	const auth = "Authorization: Bearer s3cret-token"
	large := strings.Replace(eventFixture, `"d"`, `"`+strings.Repeat("d", MaxRequestBytes)+`"`, 1)
	fits := strings.Replace(eventFixture, `"d"`, `"`+strings.Repeat("d", MaxRequestBytes-len(eventFixture)+1)+`"`, 1)
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		want                     string // message, or status of a verdict
	}{
		{"capabilities", "GET", "/conform/capabilities", "", []string{auth}, 200, ""},
		{"pass", "POST", "/conform/execute", eventFixture, []string{auth}, 200, "pass"},
		{"fail", "POST", "/conform/execute", strings.Replace(eventFixture, "invalid_events", "x",
			1), []string{auth}, 200, "fail"},
		{"unknown operation", "POST", "/conform/execute", strings.Replace(eventFixture, "validate_event_ordering",
			"sing", 1), []string{auth}, 200, "not_implemented"},
		{"no fixture", "POST", "/conform/execute", "{}", []string{auth}, 200, "error"},
		{"no object", "POST", "/conform/execute", "null", []string{auth}, 200, "error"},
		{"largest", "POST", "/conform/execute", fits, []string{auth}, 200, "pass"},
		{"too large", "POST", "/conform/execute", large, []string{auth}, 413, "the body is larger than 1048576 bytes"},
		{"not JSON", "POST", "/conform/execute", `{"a"`, []string{auth}, 400, "Invalid JSON: "},
		{"nothing", "POST", "/conform/execute", "", []string{auth}, 400, "Invalid JSON: "},
		{"deep", "POST", "/conform/execute", strings.Repeat("[", 100000), []string{auth}, 400, "Invalid JSON: "},
		{"no token", "POST", "/conform/execute", eventFixture, nil, 401, "Unauthorized"},
		{"no token for capabilities", "GET", "/conform/capabilities", "", nil, 401, "Unauthorized"},
		{"wrong token", "GET", "/conform/capabilities", "", []string{"Authorization: Bearer s3cret-tokem"}, 401,
			"Unauthorized"},
		{"part of the token", "GET", "/conform/capabilities", "", []string{"Authorization: Bearer s3cret"}, 401,
			"Unauthorized"},
		{"another scheme", "GET", "/conform/capabilities", "", []string{"Authorization: bearer s3cret-token"}, 401,
			"Unauthorized"},
		{"method before token", "POST", "/conform/capabilities", "", nil, 405, "Method not allowed"},
		{"method", "GET", "/conform/execute", "", []string{auth}, 405, "Method not allowed"},
		{"head", "HEAD", "/conform/capabilities", "", []string{auth}, 405, ""},
		{"options", "OPTIONS", "/conform/execute", "", nil, 405, "Method not allowed"},
		{"query", "GET", "/conform/capabilities?x=1", "", []string{auth}, 404, "Not found"},
		{"empty query", "POST", "/conform/execute?", eventFixture, []string{auth}, 404, "Not found"},
		{"another place", "GET", "/", "", []string{auth}, 404, "Not found"},
		{"below", "GET", "/conform/capabilities/", "", []string{auth}, 404, "Not found"},
		{"a web page", "POST", "/conform/execute", eventFixture, []string{auth, "Origin: http://example.org"}, 403,
			"requests from web pages are refused"},
		{"a name that points here", "GET", "/conform/capabilities", "", []string{auth, "Host: evil.example:80"}, 403,
			"the Host header names another host"},
		{"localhost", "GET", "/conform/capabilities", "", []string{auth, "Host: LocalHost:1"}, 200, ""},
		{"loopback of the other kind", "GET", "/conform/capabilities", "", []string{auth, "Host: [::1]"}, 200, ""},
	} {
		status, o, h := v.ask(t, c.method, c.path, c.body, c.header...)
		got := o.String("message")
		if status == 200 {
			got = o.String("status")
		}
		if status != c.status ||
			got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %d %s", c.name, status, ojson.Compact(o))
		}
		if status == 405 && h.Get("Allow") == "" || status == 401 && h.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: header %v", c.name, h)
		}
	}
	_, o, _ := v.ask(t, "GET", "/conform/capabilities", "", auth)
	if _, err := NewCapabilities(o, ProtocolHTTP); err != nil || o.Object("adapter").Has("command") {
		t.Errorf("capabilities: %v in %s", err, ojson.Compact(o))
	}
	if err := v.stop(); err != nil {
		t.Error(err)
	}
	if log := v.log.String(); strings.Contains(log, "s3cret") ||
		!strings.Contains(log, " POST /conform/execute 200 ") {
		t.Errorf("log: %s", log)
	}
}

func TestServeBrokenAdapters(t *testing.T) {
	for mode, want := range map[string]string{
		"crash":         "the adapter ended without a verdict",
		"garbage":       "the adapter ended without a verdict",
		"contradiction": "the adapter's exit status contradicts its verdict",
	} {
		v := serveFor(t, mode, nil)
		status, o, _ := v.ask(t, "POST", "/conform/execute", eventFixture)
		if status != 500 || o.String("message") != want {
			t.Errorf("%s: %d %s", mode, status, ojson.Compact(o))
		}
	}
	v := serveFor(t, "hang", func(s *Server) { s.Timeout = 200 * time.Millisecond })
	status, o, _ := v.ask(t, "POST", "/conform/execute", eventFixture)
	if status != 200 || o.String("status") != "error" ||
		o.String("message") != "the fixture did not end within 200ms" || !o.Has("actual") {
		t.Errorf("hang: %d %s", status, ojson.Compact(o))
	}
	v = serveFor(t, "1", func(s *Server) { s.Command = []string{filepath.Join(t.TempDir(), "absent")} })
	if status, o, _ := v.ask(t, "POST", "/conform/execute", eventFixture); status != 500 ||
		o.String("message") != "the adapter cannot be started" {
		t.Errorf("absent: %d %s", status, ojson.Compact(o))
	}
	v = serveFor(t, "locked", nil)
	if status, _, _ := v.ask(t, "POST", "/conform/execute", eventFixture); status != 200 {
		t.Errorf("locked: %d", status)
	}
}

func TestServeContainment(t *testing.T) {
	t.Setenv("SOME_SECRET", "hush")
	t.Setenv(TokenVariable, "hush")
	v := serveFor(t, "environ", nil)
	_, o, _ := v.ask(t, "POST", "/conform/execute", eventFixture)
	actual := o.Object("actual")
	if strings.Contains(string(ojson.Compact(o)), "hush") {
		t.Errorf("a secret went along: %s", ojson.Compact(o))
	}
	dir := actual.String("dir")
	if dir == "" || filepath.Dir(dir) != v.tmp || actual.String("tmp") != dir ||
		!actual.Object("env").Has("HOME="+dir) {
		t.Errorf("directories: %s", ojson.Compact(actual))
	}
}

// TestServeManyAtOnce also overfills the queue.
func TestServeManyAtOnce(t *testing.T) {
	testrepo.Serving(t)
	v := serveFor(t, "1", nil)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if status, o, _ := v.ask(t, "POST", "/conform/execute", eventFixture); status != 200 ||
				o.String("status") != "pass" {
				t.Errorf("%d %s", status, ojson.Compact(o))
			}
		})
	}
	wg.Wait()
	full := serveFor(t, "hang", func(s *Server) { s.Jobs, s.Queue, s.Timeout = 1, 1, 500*time.Millisecond })
	var mu sync.Mutex
	counts := make(map[int]int)
	for range 6 {
		wg.Go(func() {
			status, o, h := full.ask(t, "POST", "/conform/execute", eventFixture)
			if status == 503 && (h.Get("Retry-After") == "" || o.String("message") == "") {
				t.Errorf("503: %v %s", h, ojson.Compact(o))
			}
			mu.Lock()
			counts[status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if counts[200] < 2 || counts[503] == 0 || counts[200]+counts[503] != 6 {
		t.Errorf("answers: %v", counts)
	}
}

// TestServeStopsMidFixture: stopping the endpoint ends the running fixture with everything it started, and its
// verifier is told.
func TestServeStopsMidFixture(t *testing.T) {
	testrepo.Serving(t)
	v := serveFor(t, "hang", nil)
	answered := make(chan int, 1)
	go func() {
		status, _, _ := v.ask(t, "POST", "/conform/execute", eventFixture)
		answered <- status
	}()
	waitFor(t, func() bool {
		left, _ := filepath.Glob(filepath.Join(v.tmp, "*", "left"))
		return len(left) == 1
	})
	if err := v.stop(); err != nil {
		t.Error(err)
	}
	if status := <-answered; status != 503 {
		t.Errorf("status %d", status)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(v.url, "http://")); err == nil {
		t.Error("it still listens")
	}
}

// TestServePeerGone: the client is gone, so the fixture ends.
func TestServePeerGone(t *testing.T) {
	v := serveFor(t, "hang", nil)
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "POST", v.url+"/conform/execute", strings.NewReader(eventFixture))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	waitFor(t, func() bool {
		left, _ := filepath.Glob(filepath.Join(v.tmp, "*", "left"))
		return len(left) == 1
	})
	cancel()
	<-done
	waitFor(t, func() bool {
		left, _ := os.ReadDir(v.tmp)
		return len(left) == 0
	})
}

// waitFor waits for something another goroutine brings about.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it did not happen")
}

// TestServeSlowBody: a slow peer is cut off and delays no other request.
func TestServeSlowBody(t *testing.T) {
	v := serveFor(t, "1", func(s *Server) { s.Jobs, s.Queue, s.patience = 1, 0, 300*time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(v.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /conform/execute HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{")
	headers, err := net.Dial("tcp", strings.TrimPrefix(v.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer headers.Close()
	fmt.Fprintf(headers, "POST /conform/execute HTTP/1.1\r\nX: ")
	if status, _, _ := v.ask(t, "POST", "/conform/execute", eventFixture); status != 200 {
		t.Errorf("beside a slow body: %d", status)
	}
	data, err := io.ReadAll(conn)
	if err != nil || !bytes.HasPrefix(data, []byte("HTTP/1.1 408 ")) ||
		!bytes.Contains(data, []byte(`{"message":"the body did not arrive in time"}`)) {
		t.Errorf("slow body: %v, %q", err, data)
	}
	if data, err = io.ReadAll(headers); err != nil || bytes.HasPrefix(data, []byte("HTTP/1.1 200")) {
		t.Errorf("slow header: %v, %q", err, data)
	}
}

func TestListen(t *testing.T) {
	for addr, names := range map[string]int{"127.0.0.1:0": 4, "0": 3, "0.0.0.0:0": 0} {
		s := &Server{Token: "long enough for it"}
		l, err := s.Listen(context.Background(), addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		if len(s.Hosts) != names {
			t.Errorf("%s: it may be called %q", addr, s.Hosts)
		}
	}
}
