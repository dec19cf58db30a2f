package webpost

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve runs a raw server: fn gets every connection after its request was read.
func serve(t *testing.T, fn func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				req, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				fn(c)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestPostSends(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "ok")
	}))
	defer srv.Close()
	r := Post(t.Context(), Request{
		URL:     srv.URL + "/x?y=1",
		Body:    []byte(`{"a":1}`),
		Timeout: 10 * time.Second,
		Headers: []Header{
			{"content-type", "text/plain"}, {"x-lower-CASE", "v"}, {"Host", "example.test"}, {"Content-Length", "99"},
		},
	})
	if r.Err != nil || r.Status != 202 || string(r.Body) != "ok" || !r.OK() || r.Overflow || r.TimedOut {
		t.Fatalf("response %+v", r)
	}
	if got.Method != "POST" || got.URL.String() != "/x?y=1" || string(body) != `{"a":1}` ||
		got.Host != "example.test" || !got.Close {
		t.Fatalf("request %s %s %q host %s", got.Method, got.URL, body, got.Host)
	}
	if ct := got.Header.Values("Content-Type"); len(ct) != 1 || ct[0] != "application/json" {
		t.Errorf("Content-Type %q", ct)
	}
	if v := got.Header.Get("X-Lower-Case"); v != "v" {
		t.Errorf("header casing: %q", v)
	}
	if v := got.Header.Get("User-Agent"); v != "git-agentxchain" {
		t.Errorf("User-Agent %q", v)
	}
	if got.Header.Get("Cookie") != "" {
		t.Error("cookie sent")
	}
}

func TestPostDoesNotFollowRedirects(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer srv.Close()
	r := Post(t.Context(), Request{URL: srv.URL})
	if r.Err != nil || r.Status != 302 || r.OK() || hits.Load() != 1 {
		t.Fatalf("%+v after %d requests", r, hits.Load())
	}
}

func TestPostRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	r := Post(t.Context(), Request{
		URL:     "http://us3rname:passw0rd@" + addr + "/p?key=s3cretkey",
		Headers: []Header{{"Authorization", "Bearer t0kent0ken"}},
	})
	if r.Err == nil || r.TimedOut || r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	leaks(t, r.Err.Error(), "passw0rd", "us3rname", "s3cretkey", "t0kent0ken")
	if want := "no connection to " + addr + ": "; !strings.HasPrefix(r.Err.Error(), want) {
		t.Errorf("expected %q and why, got %q", want, r.Err)
	}
	// Without a network a name cannot be looked up at all.
	r = Post(t.Context(), Request{URL: "http://hooks.invalid/", Timeout: 5 * time.Second})
	if r.Err == nil || !r.TimedOut && !strings.Contains(r.Err.Error(), "host hooks.invalid") {
		t.Errorf("expected a word about the host, got %v", r.Err)
	}
}

func leaks(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("%q gives away %q", text, s)
		}
	}
}

func TestPostTimesOut(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	for name, fn := range map[string]func(net.Conn){
		"slow headers": func(net.Conn) { <-block },
		"drip of headers": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for i := 0; ; i++ {
				if _, err := fmt.Fprintf(c, "X-%d: a\r\n", i); err != nil {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		},
		"drip of body": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
			for {
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := Post(t.Context(), Request{URL: serve(t, fn), Timeout: 150 * time.Millisecond})
			if !r.TimedOut || r.Err == nil || r.Err.Error() != "timeout" || r.OK() {
				t.Fatalf("%+v", r)
			}
		})
	}
}

func TestPostEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := Post(ctx, Request{URL: serve(t, func(c net.Conn) {
		cancel()
		_, _ = io.Copy(io.Discard, c)
	}), Timeout: time.Minute})
	if !errors.Is(r.Err, context.Canceled) || r.TimedOut {
		t.Fatalf("%+v", r)
	}
}

func TestPostCapsTheBody(t *testing.T) {
	var sent atomic.Int64
	gone := make(chan struct{})
	url := serve(t, func(c net.Conn) {
		defer close(gone)
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 1<<30)
		chunk := make([]byte, 64<<10)
		for range 1 << 14 {
			n, err := c.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	r := Post(t.Context(), Request{URL: url, MaxBody: 1 << 20, Timeout: 30 * time.Second})
	if r.Err != nil || !r.Overflow || len(r.Body) != 1<<20 || r.Status != 200 {
		t.Fatalf("status %d overflow %v err %v len %d", r.Status, r.Overflow, r.Err, len(r.Body))
	}
	<-gone
	if sent.Load() >= 1<<30 {
		t.Error("the whole gigabyte was taken")
	}
}

func TestPostExactBodyIsNoOverflow(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "12345")
	}))
	defer srv.Close()
	if r := Post(t.Context(), Request{URL: srv.URL, MaxBody: 5}); r.Overflow || string(r.Body) != "12345" {
		t.Fatalf("%+v", r)
	}
	if r := Post(t.Context(), Request{URL: srv.URL, MaxBody: 4}); !r.Overflow || string(r.Body) != "1234" {
		t.Fatalf("%+v", r)
	}
}

func TestPostStatus(t *testing.T) {
	for _, status := range []int{200, 204, 299, 300, 404, 429, 500, 503} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		}))
		r := Post(t.Context(), Request{URL: srv.URL})
		srv.Close()
		if r.Status != status || r.Err != nil || r.OK() != (status < 300) {
			t.Errorf("%d: %+v", status, r)
		}
	}
}

func TestPostRefusesAnUnknownCertificate(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	defer srv.Close()
	r := Post(t.Context(), Request{URL: srv.URL + "/?k=s3cretkey"})
	if r.Err == nil || r.Status != 0 || !strings.Contains(r.Err.Error(), "certificate") {
		t.Fatalf("%+v", r)
	}
	leaks(t, r.Err.Error(), "s3cretkey")
}

func TestPostGarbage(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":        "",
		"no http":        "220 mail.example ESMTP Bearer t0kent0ken\r\n",
		"endless header": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n",
		"short body":     "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
		"bad chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"other protocol": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: Upgrade\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := Post(t.Context(), Request{URL: serve(t, func(c net.Conn) {
				_, _ = io.WriteString(c, answer)
			}), Headers: []Header{{"A", "Bearer t0kent0ken"}}})
			if r.Err == nil || r.OK() {
				t.Fatalf("%+v", r)
			}
			leaks(t, r.Err.Error(), "t0kent0ken")
			for _, own := range []string{"net/http", "transport", "EOF"} {
				if strings.Contains(r.Err.Error(), own) {
					t.Error("a person is told in the library's words:", r.Err)
				}
			}
		})
	}
}

func TestPostRefusesBadRequests(t *testing.T) {
	for _, url := range []string{"", "ftp://h/x", "file:///etc/passwd", "http://", "http://[::1", "://x",
		"http://h\x00/", "javascript:1"} {
		if r := Post(t.Context(), Request{URL: url}); r.Err == nil {
			t.Errorf("%q was sent: %+v", url, r)
		}
	}
	for _, h := range []Header{
		{"X", "a\r\nEvil: s3cretvalue"},
		{"X", "s3cretvalue\n"},
		{"X", "s3cretvalue\x00"},
		{"X\r\nY", "v"},
		{"", "v"},
		{"a b", "v"},
		{"a:", "v"},
	} {
		r := Post(t.Context(), Request{URL: "http://127.0.0.1:1/", Headers: []Header{h}})
		if r.Err == nil || r.Status != 0 || !strings.Contains(r.Err.Error(), "header") {
			t.Errorf("%q: %v", h, r.Err)
			continue
		}
		leaks(t, r.Err.Error(), "s3cretvalue")
	}
}
