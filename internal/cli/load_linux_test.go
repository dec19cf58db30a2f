// Servers under load: the real program beside clients that are slow, broken or hostile. Proper requests are still
// answered, nothing grows, and a signal ends the program.

package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// How much more a server may hold after the load than before it, once the clients have gone.
const (
	moreMemory      = 64 << 20 // resident bytes
	moreDescriptors = 8
	moreThreads     = 48        // Go keeps the threads it has made for blocking calls
	mostMemory      = 640 << 20 // while the load lasts
)

// loadTime returns how long each server is under load: ten minutes in the long form, or AGENTXCHAIN_LOAD_TIME.
func loadTime(t *testing.T) time.Duration {
	t.Helper()
	if text := os.Getenv("AGENTXCHAIN_LOAD_TIME"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		return 10 * time.Minute
	}
	return 3 * time.Second
}

// usage is what a process holds.
type usage struct{ memory, peak, threads, descriptors int }

func (u usage) String() string {
	return fmt.Sprintf("%d MiB (at most %d), %d threads, %d descriptors", u.memory>>20, u.peak>>20, u.threads,
		u.descriptors)
}

func usageOf(pid int) (u usage, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(data)) {
		field := strings.Fields(line)
		if len(field) < 2 {
			continue
		}
		n, _ := strconv.Atoi(field[1])
		switch field[0] {
		case "VmRSS:":
			u.memory = n << 10
		case "VmHWM:":
			u.peak = n << 10
		case "Threads:":
			u.threads = n
		}
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	u.descriptors = len(fds)
	return u, err
}

// underLoad is a server and its clients.
type underLoad struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	addr  string                  // of a server on the network
	said  map[string]any          // what it printed when it listened
	trail lastLines               // of its standard error
	over  chan struct{}           // closed when it has ended
	sorts map[string]*sort        // of clients that misbehave, by name
	asks  map[string]func() error // the requests of well-behaved clients, by name
	// files of git that it may hold: the garbage collector closes those that are no longer read
	packs int
}

// sort is one sort of bad client: what one of them does, and how many there are at a time.
type sort struct {
	at    int
	do    func(ctx context.Context, s *sort)
	kept  bool // it goes only when the server lets it go, or the load ends
	tries atomic.Int64
	let   atomic.Int64 // connections that the server ended
}

// lastLines keeps the end of what is written to it.
type lastLines struct {
	mu   sync.Mutex
	kept []byte
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	l.kept = l.kept[max(0, len(l.kept)-(4<<10)):]
	return len(p), nil
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}

// startLoaded starts the program: the one that AGENTXCHAIN_TEST_PROGRAM names, or the one that the scripts run.
func startLoaded(t *testing.T, dir string, args ...string) *underLoad {
	t.Helper()
	if testing.Short() {
		t.Skip("loads the machine for some seconds")
	}
	program := os.Getenv("AGENTXCHAIN_TEST_PROGRAM")
	if program == "" {
		program = "git-agentxchain"
	}
	l := &underLoad{
		t:     t,
		cmd:   exec.Command(program, args...),
		over:  make(chan struct{}),
		sorts: make(map[string]*sort),
		asks:  make(map[string]func() error),
	}
	l.cmd.Dir, l.cmd.Stderr = dir, &l.trail
	in, err := l.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe() // Wait must not close what is still read
	if err != nil {
		t.Fatal(err)
	}
	l.in, l.out, l.cmd.Stdout = in, bufio.NewReader(out), w
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	go func() { _ = l.cmd.Wait(); close(l.over) }()
	t.Cleanup(func() {
		_ = l.cmd.Process.Kill()
		<-l.over
		_ = out.Close()
	})
	return l
}

// listens reads the line that the server prints when it listens.
func (l *underLoad) listens() {
	l.t.Helper()
	if err := json.NewDecoder(l.out).Decode(&l.said); err != nil {
		l.t.Fatalf("it does not listen: %v: %s", err, &l.trail)
	}
}

func (l *underLoad) usage() usage {
	l.t.Helper()
	u, err := usageOf(l.cmd.Process.Pid)
	if err != nil {
		l.t.Fatalf("the server is not there: %v: %s", err, &l.trail)
	}
	return u
}

// ask repeats all requests of well-behaved clients until ctx ends. A client that is told that the server is busy
// tries again, as clients do; an unanswered request is an error.
func (l *underLoad) ask(ctx context.Context, least int) map[string]int {
	got := make(map[string]int)
	failed := 0
	for n := 0; ctx.Err() == nil || n < least; n++ {
		for _, name := range slices.Sorted(maps.Keys(l.asks)) {
			var err error
			for range 20 {
				if err = l.asks[name](); err == nil {
					got[name]++
					break
				}
				failed++
				time.Sleep(250 * time.Millisecond)
			}
			if err != nil {
				l.t.Errorf("%s: %v", name, err)
				return got
			}
		}
	}
	got["asked again"] = failed
	return got
}

// bear runs the server under load and then ends it. within is how long it may take to end.
func (l *underLoad) bear(within time.Duration) {
	t := l.t
	t.Helper()
	warm, cancel := context.WithTimeout(t.Context(), time.Second)
	quiet := l.ask(warm, 3)
	cancel()
	before := l.usage()
	if t.Failed() {
		return
	}
	lasting := loadTime(t)
	ctx, cancel := context.WithTimeout(t.Context(), lasting)
	bad := l.release(ctx)
	var samples []int
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				if u, err := usageOf(l.cmd.Process.Pid); err == nil {
					samples = append(samples, u.memory)
				}
			}
		}
	}()
	got := l.ask(ctx, 1)
	under := l.usage()
	cancel()
	bad.Wait()
	<-watched
	after := l.settle(before)
	t.Logf("%v of load; quiet: %v; answered in one quiet second: %v, under load: %v", lasting, before, quiet, got)
	t.Logf("under load: %v; afterwards: %v", under, after)
	t.Log("clients: " + l.clients())
	if n := len(samples) / 4; n > 100 {
		early, late := slices.Max(samples[n:2*n]), slices.Max(samples[3*n:])
		t.Logf("most memory in the second quarter: %d MiB, in the last one: %d MiB", early>>20, late>>20)
		if late > early+early/4+(32<<20) {
			t.Error("memory grows while the load lasts")
		}
	}
	for name, s := range l.sorts {
		if s.kept && lasting >= 2*time.Minute && s.let.Load() == 0 {
			t.Errorf("the server has let none of these go: %s", name)
		}
	}
	if t.Failed() {
		t.Log(l.trail.String())
		return
	}
	// It is ended while clients hold on to it.
	again, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bad = l.release(again)
	time.Sleep(500 * time.Millisecond)
	l.terminate(within)
	cancel()
	bad.Wait()
}

// release starts the bad clients.
func (l *underLoad) release(ctx context.Context) *sync.WaitGroup {
	var wg sync.WaitGroup
	for _, s := range l.sorts {
		for range s.at {
			wg.Go(func() {
				for ctx.Err() == nil {
					s.tries.Add(1)
					s.do(ctx, s)
					select {
					case <-ctx.Done():
					case <-time.After(time.Duration(10+rand.IntN(40)) * time.Millisecond):
					}
				}
			})
		}
	}
	return &wg
}

func (l *underLoad) clients() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l.sorts)) {
		s := l.sorts[name]
		out = append(out, fmt.Sprintf("%s %d (%d let go)", name, s.tries.Load(), s.let.Load()))
	}
	return strings.Join(out, ", ")
}

// settle waits until the server holds hardly more than before. Memory is freed by the garbage collections of an idle
// server, one in two minutes: the short form does not wait for them.
func (l *underLoad) settle(before usage) usage {
	l.t.Helper()
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	wait := time.Minute
	if long {
		wait = 8 * time.Minute
	}
	var u usage
	for end := time.Now().Add(wait); ; time.Sleep(200 * time.Millisecond) {
		u = l.usage()
		if (!long || u.memory <= before.memory+moreMemory) &&
			u.descriptors <= before.descriptors+moreDescriptors+l.packs &&
			u.threads <= before.threads+moreThreads {
			break
		}
		if time.Now().After(end) {
			l.t.Errorf("it keeps what the load took: %v, before %v", u, before)
			break
		}
	}
	if u.peak > mostMemory {
		l.t.Errorf("%d MiB is more than it may take", u.peak>>20)
	}
	return u
}

// terminate asks the server to end, which it must do within a time and with status 0.
func (l *underLoad) terminate(within time.Duration) {
	l.t.Helper()
	begun := time.Now()
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		l.t.Fatal(err)
	}
	l.ends(within)
	l.t.Logf("it ended %v after SIGTERM", time.Since(begun).Round(10*time.Millisecond))
}

func (l *underLoad) ends(within time.Duration) {
	l.t.Helper()
	select {
	case <-l.over:
	case <-time.After(within):
		_ = l.cmd.Process.Signal(syscall.SIGQUIT) // it prints what it waits for
		select {
		case <-l.over:
		case <-time.After(5 * time.Second):
		}
		l.t.Fatalf("it has not ended after %v: %s", within, &l.trail)
	}
	if code := l.cmd.ProcessState.ExitCode(); code != 0 {
		l.t.Errorf("it ended with %v: %s", l.cmd.ProcessState, &l.trail)
	}
}

// dial connects; the connection ends with ctx.
func (l *underLoad) dial(ctx context.Context) net.Conn {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return nil
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn
}

// on adds a sort of client that does something with a connection.
func (l *underLoad) on(name string, at int, do func(ctx context.Context, c net.Conn, s *sort)) *sort {
	l.sorts[name] = &sort{at: at, do: func(ctx context.Context, s *sort) {
		if c := l.dial(ctx); c != nil {
			defer func() { _ = c.Close() }()
			do(ctx, c, s)
		}
	}}
	return l.sorts[name]
}

// held adds a sort that stays until the server ends the connection.
func (l *underLoad) held(name string, at int, do func(ctx context.Context, c net.Conn) error) {
	l.on(name, at, func(ctx context.Context, c net.Conn, s *sort) {
		if do(ctx, c) != nil && ctx.Err() == nil {
			s.let.Add(1)
		}
	}).kept = true
}

// drip sends a byte of the text now and then, the last one over and over.
func drip(ctx context.Context, c net.Conn, begin, text string) error {
	_, err := io.WriteString(c, begin)
	for i := 0; err == nil && ctx.Err() == nil; i++ {
		j := min(i, len(text)-1)
		_, err = io.WriteString(c, text[j:j+1])
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// waits reads until the server ends the connection.
func waits(c net.Conn) error {
	if _, err := io.Copy(io.Discard, c); err != nil {
		return err
	}
	return io.EOF
}

// unread sends requests again and again and never reads an answer.
func unread(c net.Conn, request string) error {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(1024)
	}
	for {
		if _, err := io.WriteString(c, request); err != nil {
			return err
		}
	}
}

// crowd adds n connections that say nothing.
func (l *underLoad) crowd(n int) {
	l.sorts["silent crowd"] = &sort{at: 1, kept: true, do: func(ctx context.Context, s *sort) {
		var gone sync.WaitGroup
		for range 16 {
			gone.Go(func() {
				for range n / 16 {
					if c := l.dial(ctx); c != nil {
						gone.Go(func() {
							if waits(c) != nil && ctx.Err() == nil {
								s.let.Add(1)
							}
							_ = c.Close()
						})
					}
				}
			})
		}
		gone.Wait()
	}}
}

// noise returns bytes of no protocol.
func noise(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rand.Uint32())
	}
	return out
}

// reset ends a connection without closing it properly.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// strangers adds the sorts that speak no protocol at all.
func (l *underLoad) strangers() {
	l.on("garbage", 3, func(_ context.Context, c net.Conn, _ *sort) {
		_, _ = c.Write(noise(1 << (4 + rand.IntN(14))))
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_ = waits(c)
	})
	l.on("TLS hello", 2, func(ctx context.Context, c net.Conn, _ *sort) {
		_ = c.SetDeadline(time.Now().Add(2 * time.Second))
		_ = tls.Client(c, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
	})
	l.on("reset", 2, func(_ context.Context, c net.Conn, _ *sort) { reset(c) })
}

// http adds the bad clients of HTTP/1.1. head begins a request for a path, without its end; page is a large answer,
// stream an endless one, and post takes a body.
func (l *underLoad) http(head func(method, path string) string, page, stream, post string) {
	l.strangers()
	get := head("GET", page) + "\r\n"
	json := func(length int) string {
		return head("POST", post) + "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(length) +
			"\r\n\r\n"
	}
	brief := func(c net.Conn) { _ = c.SetDeadline(time.Now().Add(5 * time.Second)) }
	l.held("slow head", 40, func(ctx context.Context, c net.Conn) error {
		return drip(ctx, c, head("GET", page)+"X-Slow: ", "a")
	})
	l.held("slow body", 300, func(ctx context.Context, c net.Conn) error {
		return drip(ctx, c, json(1<<20), `{"intent":"a`)
	})
	l.held("slow piece", 20, func(ctx context.Context, c net.Conn) error {
		return drip(ctx, c, head("POST", post)+"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
			"0000000")
	})
	l.held("answers unread", 20, func(_ context.Context, c net.Conn) error { return unread(c, get) })
	l.on("stream unread", 40, func(ctx context.Context, c net.Conn, _ *sort) {
		_ = c.(*net.TCPConn).SetReadBuffer(1024)
		_, _ = io.WriteString(c, head("GET", stream)+"Accept: text/event-stream\r\n\r\n")
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Second):
		}
	})
	l.on("stream cancelled", 5, func(_ context.Context, c net.Conn, _ *sort) {
		brief(c)
		_, _ = io.WriteString(c, head("GET", stream)+"Accept: text/event-stream\r\n\r\n")
		_, _ = c.Read(make([]byte, 64))
	})
	l.on("half a request", 5, func(_ context.Context, c net.Conn, _ *sort) {
		_, _ = io.WriteString(c, get[:1+rand.IntN(len(get)-1)])
	})
	l.on("half a body", 5, func(_ context.Context, c net.Conn, _ *sort) {
		_, _ = io.WriteString(c, json(5000)+`{"intent":`)
		reset(c)
	})
	l.on("wrong lengths", 3, func(_ context.Context, c net.Conn, _ *sort) {
		brief(c)
		for _, n := range []string{"-1", "1", "99999999999999999999", "9223372036854775807", "x"} {
			_, _ = io.WriteString(c,
				head("POST", post)+"Content-Type: application/json\r\nContent-Length: "+n+"\r\n\r\n{}\r\n\r\n"+get)
		}
		_ = c.(*net.TCPConn).CloseWrite()
		_ = waits(c)
	})
	l.on("HTTP/2 preface", 2, func(_ context.Context, c net.Conn, _ *sort) {
		brief(c)
		_, _ = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		_, _ = c.Write(noise(1000))
		_ = c.(*net.TCPConn).CloseWrite()
		_ = waits(c)
	})
	l.on("large head", 2, func(_ context.Context, c net.Conn, _ *sort) {
		brief(c)
		_, _ = io.WriteString(c, head("GET", page)+"X-Large: "+strings.Repeat("a", 8<<20))
	})
	l.on("many headers", 2, func(_ context.Context, c net.Conn, _ *sort) {
		brief(c)
		_, _ = io.WriteString(c, head("GET", page)+strings.Repeat("X: y\r\n", 1<<20))
	})
	l.on("large body", 2, func(_ context.Context, c net.Conn, _ *sort) {
		brief(c)
		piece := "10000\r\n" + strings.Repeat("a", 1<<16) + "\r\n"
		_, _ = io.WriteString(c,
			head("POST", post)+"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 1024 {
			if _, err := io.WriteString(c, piece); err != nil {
				return
			}
		}
	})
	l.on("deep body", 2, func(_ context.Context, c net.Conn, _ *sort) {
		brief(c)
		_, _ = io.WriteString(c, json(1<<20)+strings.Repeat(`{"a":[`, (1<<20)/6)+"    ")
		_ = c.(*net.TCPConn).CloseWrite()
		_ = waits(c)
	})
	l.on("gone before the answer", 5, func(_ context.Context, c net.Conn, _ *sort) {
		_, _ = io.WriteString(c, get)
		reset(c)
	})
	l.on("gone in the answer", 5, func(_ context.Context, c net.Conn, _ *sort) {
		brief(c)
		_, _ = io.WriteString(c, get)
		_, _ = c.Read(make([]byte, 10))
		reset(c)
	})
	l.held("idle after an answer", 40, func(_ context.Context, c net.Conn) error {
		if _, err := io.WriteString(c, get); err != nil {
			return err
		}
		return waits(c)
	})
}

// getter requests a path like a proper client, over a new connection every other time.
func getter(base, path string, right func(status int, body []byte) bool, header ...string) func() error {
	n, client := 0, &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
	return func() error {
		req, err := http.NewRequest(http.MethodGet, base+path, nil)
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		n++
		req.Close = n%2 == 0
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err == nil && !right(resp.StatusCode, body) {
			err = fmt.Errorf("%d: %.300s", resp.StatusCode, body)
		}
		return err
	}
}

// TestSurviveLoadDashboard puts the dashboard under load.
func TestSurviveLoadDashboard(t *testing.T) {
	testrepo.Serving(t)
	dir := mcpProject(t)
	mustAt(t, dir, "git-agentxchain", "assign", "dev")
	l := startLoaded(t, dir, "--json", "dashboard", "--port", "0", "--no-open")
	l.listens()
	l.addr = strings.Replace(strings.TrimPrefix(l.said["url"].(string), "http://"), "localhost", "127.0.0.1", 1)
	token := l.said["token"].(string)
	for path, want := range map[string]string{
		"/":            "<html",
		"/turns":       "dev",
		"/api/state":   `"run_id"`,
		"/api/history": "[",
	} {
		l.asks[path] = getter("http://"+l.addr, path, func(status int, body []byte) bool {
			return status == 200 && bytes.Contains(body, []byte(want))
		}, "X-AgentXchain-Token", token, "Accept", "text/html")
	}
	l.asks["no token"] = getter("http://"+l.addr, "/api/state", func(status int, _ []byte) bool {
		return status == 403
	})
	l.http(func(method, path string) string {
		return method + " " + path + " HTTP/1.1\r\nHost: " + l.addr + "\r\nX-AgentXchain-Token: " + token + "\r\n"
	}, "/", "/events", "/api/state")
	l.crowd(2300)
	l.bear(30 * time.Second)
}

// TestSurviveLoadService puts the ALX service under load, which carries out runs meanwhile.
func TestSurviveLoadService(t *testing.T) {
	testrepo.Serving(t)
	asAda(t)
	dir := t.TempDir()
	mustAt(t, dir, "git", "init", "-q", "-b", "main")
	mustAt(t, dir, "git-agentxchain", "serve", "--init")
	mustAt(t, dir, "git", "add", "-A")
	mustAt(t, dir, "git", "commit", "-q", "-m", "governed project")
	mustAt(t, dir, "git-agentxchain", "hooks", "trust", "--yes")
	l := startLoaded(t, dir, "--json", "serve", "--listen", "0", "--grace", "3")
	l.listens()
	l.addr = strings.TrimSuffix(strings.TrimPrefix(l.said["url"].(string), "http://"), "/alx/v1")
	solve := func(key string) (answer struct {
		OK          bool
		ExecutionID string
		Execution   struct{ SessionID, Status string }
	}, err error) {
		resp, err := http.Post("http://"+l.addr+"/alx/v1/solve", "application/json",
			strings.NewReader(`{"intent":"take notes","idempotencyKey":"`+key+`"}`))
		if err != nil {
			return answer, err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err == nil {
			err = json.Unmarshal(body, &answer)
		}
		if err == nil && (!answer.OK || answer.Execution.Status != "completed") {
			err = fmt.Errorf("%d: %.500s", resp.StatusCode, body)
		}
		return answer, err
	}
	first, err := solve("first")
	if err != nil {
		t.Fatal(err)
	}
	right := func(want string) func(int, []byte) bool {
		return func(status int, body []byte) bool { return status == 200 && bytes.Contains(body, []byte(want)) }
	}
	base := "http://" + l.addr
	l.asks["session"] = getter(base, "/alx/v1/sessions/"+first.Execution.SessionID, right(`"status":"completed"`))
	l.asks["service"] = getter(base, "/alx/v1", right(`"ok":true`))
	l.asks["health"] = getter(base, "/healthz", right(`"ok":true`))
	l.asks["events"] = getter(base, "/alx/v1/runs/"+first.ExecutionID+"/events", right("run.completed"), "Accept",
		"text/event-stream")
	l.asks["no such session"] = getter(base, "/alx/v1/sessions/none", func(status int, _ []byte) bool {
		return status == 404
	})
	l.asks["same solve"] = func() error {
		again, err := solve("first")
		if err == nil && again.ExecutionID != first.ExecutionID {
			err = fmt.Errorf("the request was carried out twice: %+v, %+v", first, again)
		}
		return err
	}
	n := 0
	var last time.Time
	l.asks["solve"] = func() error {
		if time.Since(last) < 5*time.Second {
			return nil
		}
		if _, err := solve(strconv.Itoa(n)); err != nil {
			return err
		}
		n, last = n+1, time.Now()
		return nil
	}
	l.http(func(method, path string) string { return method + " " + path + " HTTP/1.1\r\nHost: " + l.addr + "\r\n" },
		"/alx/v1/openapi.json", "/alx/v1/runs/"+first.ExecutionID+"/events", "/alx/v1/solve")
	l.on("solve cancelled", 1, func(_ context.Context, c net.Conn, _ *sort) {
		body := `{"intent":"take notes","idempotencyKey":"cancelled"}`
		_, _ = fmt.Fprintf(c,
			"POST /alx/v1/solve HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", l.addr, len(body), body)
		reset(c)
	})
	l.crowd(4700)
	l.packs = 64
	l.bear(30 * time.Second)
	t.Logf("%d runs were carried out meanwhile", n)
}
