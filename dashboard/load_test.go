// Load and malice over the network: many clients, clients that stall, bad addresses and headers,
// and long use that changes no byte.

package dashboard

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// dial connects to the server without sending anything.
func (v *served) dial() net.Conn {
	v.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(v.base, "http://"))
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	return conn
}

// head returns the beginning of a request with the token.
func (v *served) head(path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(v.base, "http://") + "\r\n" + tokenHeader +
		": " + v.s.Token() + "\r\n"
}

// clients requests pages, many at a time, and returns what went wrong.
func (v *served) clients(n int, paths ...string) (wrong []error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}, Timeout: 2 * time.Minute}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range n {
		wg.Go(func() {
			err := func() error {
				req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.base+paths[i%len(paths)], nil)
				if err != nil {
					return err
				}
				req.Header.Set(tokenHeader, v.s.Token())
				resp, err := client.Do(req)
				if err != nil {
					return err
				}
				defer func() { _ = resp.Body.Close() }()
				body, err := io.ReadAll(resp.Body)
				// A search may be told to come again, as its answer says.
				busy := resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != ""
				if err != nil || resp.StatusCode != http.StatusOK && !busy || len(body) == 0 {
					return fmt.Errorf("%s: %d, %d bytes, %w", req.URL.Path, resp.StatusCode, len(body), err)
				}
				return nil
			}()
			if err != nil {
				mu.Lock()
				wrong = append(wrong, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return wrong
}

// A thousand clients at once, each of which gets its answer, on a run with large answers; the
// memory for them is freed.
func TestThousandClients(t *testing.T) {
	testrepo.Serving(t)
	v := crowded(t)
	clients := 200
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		clients = 1000
	}
	before := runtime.NumGoroutine()
	wrong := v.clients(clients, "/", "/turns", "/timeline?text=r", "/search?q=way", "/delegations", "/api/state",
		"/api/history", "/api/events?limit=0", "/decisions", "/integrity")
	for i, err := range wrong {
		if i < 5 {
			t.Error(err)
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%d of %d clients got no answer", len(wrong), clients)
	}
	eventually(t, "giving back what the clients took", func() bool { return runtime.NumGoroutine() <= before+5 })
	v.page("/")
}

// Clients that never read the answer, and clients that never finish the request, delay no other
// client and are disconnected.
func TestClientsThatStall(t *testing.T) {
	testrepo.Serving(t)
	v := crowded(t)
	for range 40 {
		conn := v.dial()
		_ = conn.(*net.TCPConn).SetReadBuffer(1024)
		_, _ = io.WriteString(conn, v.head("/api/history")+"\r\n")
		conn = v.dial()
		_, _ = io.WriteString(conn, v.head("/events")+"\r\n")
		conn = v.dial()
		_, _ = io.WriteString(conn, v.head("/")+"X-Slow: ")
	}
	for _, err := range v.clients(50, "/", "/api/state", "/turns") {
		t.Error(err)
	}
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "1" {
		return
	}
	// A client that sends a byte now and then is disconnected too.
	conn := v.dial()
	_, _ = io.WriteString(conn, v.head("/")+"X-Slow: ")
	begun := time.Now()
	for time.Since(begun) < time.Minute {
		if _, err := io.WriteString(conn, "a"); err != nil {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Error("a client that never finishes asking is kept for a minute")
}

// Nothing in an address, a header or a method ends or moves it.
func TestHostileRequests(t *testing.T) {
	testrepo.Serving(t)
	dir, turn := fresh(t)
	v := serve(t, Options{Dir: dir})
	host := strings.TrimPrefix(v.base, "http://")
	port := fmt.Sprint(v.s.Port())
	long := strings.Repeat("a", 20_000)
	for name, c := range map[string]struct{ request, want string }{
		"a rebound name":               {"GET / HTTP/1.1\r\nHost: evil.example:" + port + "\r\n", "403"},
		"a name that begins like ours": {"GET / HTTP/1.1\r\nHost: localhost.evil.example:" + port + "\r\n", "403"},
		"a name with a dot":            {"GET / HTTP/1.1\r\nHost: localhost.:" + port + "\r\n", "403"},
		"a user in the name":           {"GET / HTTP/1.1\r\nHost: localhost@evil.example:" + port + "\r\n", "400 403"},
		"a name as a number":           {"GET / HTTP/1.1\r\nHost: 2130706433:" + port + "\r\n", "403"},
		"another loopback address":     {"GET / HTTP/1.1\r\nHost: 127.0.0.2:" + port + "\r\n", "403"},
		"a zone":                       {"GET / HTTP/1.1\r\nHost: [::1%25lo]:" + port + "\r\n", "400 403"},
		"an address in the line": {"GET http://evil.example:" + port + "/ HTTP/1.1\r\nHost: " + host + "\r\n",
			"403"},
		"a line that is too long": {v.head("/search?q=" + long), "414"},
		"a line that is far too long": {"GET /search?q=" + strings.Repeat(long, 4) + " HTTP/1.1\r\nHost: " + host +
			"\r\n",
			"414 431"},
		"a header that is too long": {"GET / HTTP/1.1\r\nHost: " + host + "\r\nX-A: " + strings.Repeat(long,
			4) + "\r\n",
			"431"},
		"headers without end": {"GET / HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Repeat("X-A: b\r\n", 20_000),
			"431"},
		"an old version":    {"GET / HTTP/1.0\r\n", "400"},
		"no version":        {"GET /\r\n", "400"},
		"a version to come": {"GET / HTTP/9.9\r\nHost: " + host + "\r\n", "505 400"},
		"two lengths": {"GET / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
			"400"},
		"a length and pieces": {"POST / HTTP/1.1\r\nHost: " + host +
			"\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "400 405"},
		"pieces of another kind": {"POST / HTTP/1.1\r\nHost: " + host + "\r\nTransfer-Encoding: gzip, chunked\r\n",
			"400 501 405"},
		"a tunnel":              {"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n", "400 403 405"},
		"a method that is none": {"NONSENSE / HTTP/1.1\r\nHost: " + host + "\r\n", "405"},
		"an upgrade": {"GET /events HTTP/1.1\r\nHost: " + host + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
			"403"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := v.dial()
			go func() { _, _ = io.WriteString(conn, c.request+"\r\n") }() // it may stop listening halfway
			line, err := bufio.NewReader(conn).ReadString('\n')
			if status := strings.Fields(line + " - -")[1]; err != nil || !strings.Contains(c.want, status) {
				t.Errorf("%q, %v: not %s", line, err, c.want)
			}
		})
	}
	secret := filepath.Join(filepath.Dir(dir), "secret.txt")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "out.txt")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	for _, path := range []string{"/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt",
		"/assets/../../secret.txt", "/assets/..%5c..%5csecret.txt", "/turns/..%2f..%2fsecret.txt", "/turns/%2e%2e",
		"/turns/..", "/ops/..%2f..%2fHEAD", "/ops/--output=x", "/ops/HEAD", "/ops/refs%2fheads%2fmain",
		"//evil.example/", "/\\evil.example", "/%00", "/turns/%00", "/turns/%ff%fe",
		"/turns/" + strings.Repeat("a", 5000), "/api/../secret.txt", "/turns/%0d%0aSet-Cookie:x",
		"/search?q=%ff%00%0d%0a", "/timeline?before=-1&after=999999999999999999999",
		"/timeline?before=9223372036854775807", "/turns?after=-5", "/event-log?before=%00",
		"/search?q=" + strings.Repeat("%22", 1000), "/turns?" + strings.Repeat("role=x&", 500), "/timeline?a=%zz",
		"/search?q=;&;q=%", "/api/events?limit=-99999999999999999999", "/api/events?since=%00&type=,,,",
		"/api/missions?mission=../../x", "/api/run-history?limit=1e9"} {
		conn := v.dial()
		_, _ = io.WriteString(conn, v.head(path)+"Accept: text/html\r\nConnection: close\r\n\r\n")
		answer, err := io.ReadAll(io.LimitReader(conn, 4<<20))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		first, rest, _ := strings.Cut(string(answer), "\r\n")
		if strings.Contains(first, " 5") || strings.Contains(rest, "SECRET") ||
			strings.Contains(rest, "\r\nSet-Cookie") ||
			strings.Contains(first, " 30") && strings.Contains(rest, "Location: //") {
			t.Errorf("%s: %s\n%.300s", path, first, rest)
		}
	}
	for _, cookie := range []string{"", "=", "agentxchain-" + port, "agentxchain-" + port + "=",
		v.s.cookie() + "=\"" + v.s.Token() + "x\"", strings.Repeat(v.s.cookie()+"=x; ", 800), "\x01\x02",
		v.s.cookie() + "=" + strings.ToUpper(v.s.Token()) + "x"} {
		conn := v.dial()
		_, _ = io.WriteString(conn,
			"GET /api/state HTTP/1.1\r\nHost: "+host+"\r\nCookie: "+cookie+"\r\nConnection: close\r\n\r\n")
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if !strings.Contains(line, " 403 ") && !strings.Contains(line, " 400 ") {
			t.Errorf("cookie %.40q: %q", cookie, line)
		}
	}
	v.methods(t, turn.TurnID)
	v.page("/")
}

// methods requests everything with every method but GET.
func (v *served) methods(t *testing.T, turn string) {
	for _, path := range append(everyAddress(), "/events", "/assets/style.css", "/turns/"+turn, "/api/identity",
		"/nothing", "/api/actions/approve-gate") {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} {
			if status, header, body := v.fetch(method, path); status != 405 || header.Get("Allow") != "GET, HEAD" ||
				!strings.Contains(body, "Method not allowed") {
				t.Errorf("%s %s: %d, Allow %q, %s", method, path, status, header.Get("Allow"), body)
			}
		}
		if path == "/events" {
			continue // it goes on until the client leaves
		}
		status, _, whole := v.fetch("GET", path, "Accept", "text/html")
		if got, header, body := v.fetch("HEAD", path, "Accept", "text/html"); got != status || body != "" ||
			header.Get("Content-Type") == "" && whole != "" {
			t.Errorf("HEAD %s: %d and %d bytes, where GET says %d", path, got, len(body), status)
		}
	}
}

// pollFor returns how long a project is polled: an hour, or a moment by default.
func pollFor() time.Duration {
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		return time.Hour
	}
	return 2 * time.Second
}

// The program, polled without pause, changes no byte of the project, of its ledgers, of git's index
// or of any ref, and uses nothing that grows.
func TestPollingChangesNothing(t *testing.T) {
	testrepo.Serving(t)
	dir, _ := played(t)
	live, turn := fresh(t)
	_ = turn
	for _, dir := range []string{dir, live} {
		session, cmd := begin(t, dir, "dashboard", "--port", "0", "--no-open")
		base := strings.Replace(session["url"].(string), "localhost", "127.0.0.1", 1)
		get := func(path string) int {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(tokenHeader, session["token"].(string))
			req.Header.Set("Accept", "text/html")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			_, _ = io.Copy(io.Discard, resp.Body)
			return resp.StatusCode
		}
		before := treeOf(t, dir)
		var asked atomic.Int64
		for end := time.Now().Add(pollFor() / 2); time.Now().Before(end); {
			for _, path := range everyAddress() {
				if status := get(path); status >= 500 {
					t.Fatalf("%s: %d", path, status)
				}
				asked.Add(1)
			}
		}
		after := treeOf(t, dir)
		if len(before) != len(after) {
			t.Errorf("%d files were %d", len(after), len(before))
		}
		for path, was := range before {
			if after[path] != was {
				t.Errorf("%s was %s and is %s", path, was, after[path])
			}
		}
		t.Logf("%d requests, %d files, nothing changed", asked.Load(), len(after))
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		eventually(t, "its end", func() bool {
			_, err := os.Stat(filepath.Join(dir, SessionFile))
			return os.IsNotExist(err)
		})
		for _, name := range []string{SessionFile, PIDFile} {
			if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
				t.Errorf("%s is still there: %v", name, err)
			}
		}
	}
}
