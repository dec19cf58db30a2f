// The remote client against servers that answer, and servers that misbehave in every way
// (docs/conformance.md#the-endpoint).

package conformance

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

func mustFixture(t *testing.T, text string) *Fixture {
	t.Helper()
	f, err := ReadFixture([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func remoteTo(t *testing.T, url, token string, timeout time.Duration) *Remote {
	t.Helper()
	r, err := NewRemote(url, token, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNewRemote(t *testing.T) {
	for _, c := range []struct{ base, want, reason string }{
		{"http://127.0.0.1:8788", "http://127.0.0.1:8788", ""},
		{"http://127.0.0.1:8788/", "http://127.0.0.1:8788", ""},
		{"https://example.org/a/b/", "https://example.org/a/b", ""},
		{"https://example.org/a//", "https://example.org/a/", ""},
		{"HTTP://[::1]:1", "http://[::1]:1", ""},
		{"127.0.0.1:8788", "", `Invalid remote URL "127.0.0.1:8788": first path segment in URL cannot contain colon`},
		{"example.org", "", `Invalid remote URL "example.org": it must start with http:// or https://`},
		{"ftp://example.org", "", `Invalid remote URL "ftp://example.org": it must start with http:// or https://`},
		{"", "", `Invalid remote URL "": it must start with http:// or https://`},
		{"http://", "", `Invalid remote URL "http://": it names no host`},
		{"http:///x", "", `Invalid remote URL "http:///x": it names no host`},
		{"http://h?a=b", "", `Invalid remote URL "http://h?a=b": it must not have a query`},
		{"http://h?", "", `Invalid remote URL "http://h?": it must not have a query`},
		{"http://h#x", "", `Invalid remote URL "http://h#x": it must not have a fragment`},
		{"http://me:pw0rd@h/", "",
			`Invalid remote URL "http://me:xxxxx@h/": it must not hold a user name or password; give a token with --token`},
		{"http://me:pw0rd@h\x7f/", "",
			`Invalid remote URL: it cannot be parsed, and is not shown because it may hold a password`},
	} {
		r, err := NewRemote(c.base, "", time.Second)
		switch {
		case err == nil && (c.reason != "" || r.Base() != c.want):
			t.Errorf("%q: %s", c.base, r.Base())
		case err != nil && err.Error() != c.reason:
			t.Errorf("%q: %v", c.base, err)
		}
	}
	for _, token := range []string{"a b", "a\r\nX: y", "t\u00e4", " "} {
		if _, err := NewRemote("http://h", token, time.Second); err == nil ||
			strings.Contains(err.Error(), token) && token != " " {
			t.Errorf("token %q: %v", token, err)
		}
	}
	if _, err := NewRemote("http://h", "", 0); err == nil {
		t.Error("a timeout of nothing")
	}
	for base, want := range map[string]bool{
		"http://example.org":  true,
		"https://example.org": false,
		"http://127.0.0.1:1":  false,
		"http://localhost":    false,
		"http://[::1]":        false,
	} {
		if got := remoteTo(t, base, "t", time.Second).Exposed(); got != want {
			t.Errorf("%s: exposed %v", base, got)
		}
	}
}

func TestRemoteRequest(t *testing.T) {
	type seen struct {
		head http.Header
		line string
		body string
	}
	got := make(chan seen, 4)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header.Clone()
		h.Set("Length", fmt.Sprint(r.ContentLength))
		if r.Close {
			h.Set("Connection", "close")
		}
		got <- seen{h, r.Method + " " + r.RequestURI, string(body)}
		_, _ = w.Write([]byte(`{"status":"pass","message":"yes","actual":{"a":1.50}}`))
	}))
	defer srv.Close()
	r := remoteTo(t, srv.URL+"/prefix/", "tok", time.Minute)
	f := mustFixture(t, eventFixture)
	if out := r.Execute(context.Background(), f); out.Status != StatusPass || out.Message != "yes" ||
		string(ojson.Compact(out.Actual)) != `{"a":1.50}` {
		t.Errorf("outcome %+v", out)
	}
	s := <-got
	want := string(ojson.Compact(f.Raw))
	if s.line != "POST /prefix/conform/execute" || s.body != want || s.head.Get("Length") != fmt.Sprint(len(want)) ||
		s.head.Get("Content-Type") != "application/json" || s.head.Get("Authorization") != "Bearer tok" ||
		s.head.Get("Connection") != "close" {
		t.Errorf("request %+v", s)
	}
	if _, err := r.Capabilities(context.Background()); err != nil {
		t.Error(err)
	}
	if s = <-got; s.line != "GET /prefix/conform/capabilities" || s.body != "" ||
		s.head.Get("Authorization") != "Bearer tok" || s.head.Get("Connection") != "close" {
		t.Errorf("request %+v", s)
	}
	r = remoteTo(t, srv.URL, "", time.Minute)
	r.Execute(context.Background(), f)
	if s = <-got; s.head.Get("Authorization") != "" {
		t.Errorf("request %+v", s)
	}
}

func TestRemoteOutcomes(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for _, c := range []struct {
		name    string
		status  int
		body    string
		message string // exact, or up to "…"
		actual  string
	}{
		{"pass", 200, `{"status":"pass","message":"m","actual":null}`, "m", "null"},
		{"fail without words", 200, `{"status":"fail","actual":[1]}`, "Fixture failed", "[1]"},
		{"error without words", 200, `{"status":"error"}`, "Fixture errored", "null"},
		{"not implemented", 200, `{"status":"not_implemented"}`, "Not implemented", "null"},
		{"message in JSON", 500, `{"message":"  it broke "}`, "HTTP 500: it broke", `{"message":"  it broke "}`},
		{"JSON without message", 401, ` {"message":" "} `, `HTTP 401: {"message":" "}`, `{"message":" "}`},
		{"JSON of another kind", 500, `[1]`, "HTTP 500: [1]", "[1]"},
		{"text", 404, " gone\n", "HTTP 404: gone", `{"body":" gone\n"}`},
		{"long text", 502, long, "HTTP 502: xxx…", `{"body":"xxx…`},
		{"nothing", 503, "", "HTTP 503: HTTP 503", "null"},
		{"redirect", 302, `{}`, "HTTP 302: {}", "{}"},
		{"created", 201, `{"status":"pass"}`, `HTTP 201: {"status":"pass"}`, `{"status":"pass"}`},
		{"no JSON", 200, "pass", "Malformed response: …", `{"body":"pass"}`},
		{"cut short", 200, `{"status":"pass"`, "Malformed response: …", `{"body":"{\"status\":\"pass\""}`},
		{"empty", 200, " \n", `Adapter response missing valid "status"`, "{}"},
		{"no status", 200, `{"a":1}`, `Adapter response missing valid "status"`, `{"a":1}`},
		{"another status", 200, `{"status":"passed"}`, `Adapter response missing valid "status"`,
			`{"status":"passed"}`},
		{"null", 200, `null`, "Adapter response must be a JSON object, not null", "null"},
		{"too deep", 200, strings.Repeat("[", 5000), "Malformed response: …", `{"body":"[…`},
		{"not UTF-8", 500, "\xff\xfe", "HTTP 500: \ufffd", `{"body":"` + "\ufffd" + `"}`},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		out := remoteTo(t, srv.URL, "", time.Minute).Execute(context.Background(), mustFixture(t, eventFixture))
		srv.Close()
		actual := string(ojson.Compact(out.Actual))
		if !fits(out.Message, c.message) || !fits(actual, c.actual) {
			t.Errorf("%s: %q, %s", c.name, text.Clip(out.Message, 200), text.Clip(actual, 200))
		}
		if len(out.Message)+len(actual) > 80<<10 {
			t.Errorf("%s: %d bytes for a report", c.name, len(actual))
		}
	}
}

func fits(s, want string) bool {
	if before, ok := strings.CutSuffix(want, "…"); ok {
		return strings.HasPrefix(s, before)
	}
	return s == want
}

func TestRemoteCapabilities(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{200, `{"implementation":"x"}`, ""},
		{200, `null`, ""},
		{200, `{`, "Invalid capabilities response: …"},
		{200, ``, "Invalid capabilities response: …"},
		{401, `{"message":"Unauthorized"}`, "Failed to fetch remote capabilities: HTTP 401"},
		{302, ``, "Failed to fetch remote capabilities: HTTP 302"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		_, err := remoteTo(t, srv.URL, "", time.Minute).Capabilities(context.Background())
		srv.Close()
		if err == nil && c.want != "" || err != nil && !fits(err.Error(), c.want) {
			t.Errorf("%d %q: %v", c.status, c.body, err)
		}
	}
}

// rawServer answers every connection with write, after the request's header.
func rawServer(t *testing.T, write func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					write(conn)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestRemoteBrokenConnections(t *testing.T) {
	testrepo.Serving(t)
	forever := func(conn net.Conn, text string) {
		for {
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	for _, c := range []struct {
		name, want string
		write      func(net.Conn)
	}{
		{"says nothing", "timeout after 300ms", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }},
		{"drips its header", "timeout after 300ms", func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ")
			forever(conn, "a")
		}},
		{"drips its body", "timeout after 300ms", func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			forever(conn, " ")
		}},
		{"hangs up", "network error: …", func(net.Conn) {}},
		{"hangs up in the body", "network error: unexpected EOF", func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
		}},
		{"speaks no HTTP", "network error: …", func(conn net.Conn) { _, _ = io.WriteString(conn, "hello\r\n\r\n") }},
	} {
		url := rawServer(t, c.write)
		r := remoteTo(t, url, "t0ken", 300*time.Millisecond)
		out := r.Execute(context.Background(), mustFixture(t, eventFixture))
		if out.Status != StatusError || !fits(out.Message, "HTTP fixture execution "+c.want) || out.Actual != nil {
			t.Errorf("%s: %+v", c.name, out)
		}
		_, err := r.Capabilities(context.Background())
		if err == nil || !fits(err.Error(), "Failed to fetch remote capabilities "+c.want) ||
			strings.Contains(err.Error(), "t0ken") || strings.Contains(err.Error(), url) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	l.Close()
	r := remoteTo(t, "http://"+l.Addr().String(), "", time.Minute)
	if out := r.Execute(context.Background(), mustFixture(t,
		eventFixture)); !strings.HasPrefix(out.Message, "HTTP fixture execution network error: dial tcp ") {
		t.Errorf("refused: %+v", out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if out := r.Execute(ctx, mustFixture(t, eventFixture)); out.Status != StatusError ||
		!strings.Contains(out.Message, "ended early") {
		t.Errorf("canceled: %+v", out)
	}
}

// TestRemoteFlood: an endless body costs bounded memory and time.
func TestRemoteFlood(t *testing.T) {
	block := make([]byte, 1<<20)
	url := rawServer(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		for {
			if _, err := conn.Write(block); err != nil {
				return
			}
		}
	})
	out := remoteTo(t, url, "", time.Minute).Execute(context.Background(), mustFixture(t, eventFixture))
	if out.Message != "HTTP fixture execution network error: the reply is larger than 16777216 bytes" {
		t.Errorf("%+v", out)
	}
}

// TestRemoteAgainstServe: our verifier's client at our endpoint.
func TestRemoteAgainstServe(t *testing.T) {
	v := serveFor(t, "1", func(s *Server) { s.Token = "right" })
	good, bad := remoteTo(t, v.url, "right", time.Minute), remoteTo(t, v.url, "wrong", time.Minute)
	doc, err := good.Capabilities(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewCapabilities(doc, ProtocolHTTP); err != nil {
		t.Error(err)
	}
	if _, err := bad.Capabilities(context.Background()); err == nil ||
		err.Error() != "Failed to fetch remote capabilities: HTTP 401" {
		t.Error(err)
	}
	f := mustFixture(t, eventFixture)
	if out := good.Execute(context.Background(), f); out.Status != StatusPass {
		t.Errorf("%+v", out)
	}
	if out := bad.Execute(context.Background(), f); out.Message != "HTTP 401: Unauthorized" {
		t.Errorf("%+v", out)
	}
}
