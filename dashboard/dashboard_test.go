// What every test of the dashboard starts from: a project, a server, a client.

package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/demo"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

// served is a running dashboard.
type served struct {
	t    testing.TB
	dir  string
	s    *Server
	base string
	stop func()
}

// serve starts a dashboard of what is in dir.
func serve(t testing.TB, opt Options) *served {
	t.Helper()
	if opt.Every == 0 {
		opt.Every = 20 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, err := New(ctx, opt)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	l, err := s.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	v := &served{t: t, dir: s.Dir(), s: s, base: "http://127.0.0.1:" + fmt.Sprint(s.Port())}
	stopped := false
	v.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(v.stop)
	return v
}

// fetch sends a request with the token; header is name, value, name, value.
func (v *served) fetch(method, path string, header ...string) (int, http.Header, string) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set(tokenHeader, v.s.Token())
	for i := 0; i+1 < len(header); i += 2 {
		switch header[i] {
		case "Host":
			req.Host = header[i+1]
		case "":
		default:
			req.Header.Set(header[i], header[i+1])
		}
		if header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Do(req)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// page returns a page that must exist.
func (v *served) page(path string) string {
	v.t.Helper()
	status, header, body := v.fetch("GET", path, "Accept", "text/html")
	if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
		v.t.Fatalf("%s: %d %s\n%s", path, status, header.Get("Content-Type"), body)
	}
	return body
}

// api decodes an answer of the API.
func (v *served) api(path string, status int) any {
	v.t.Helper()
	got, _, body := v.fetch("GET", "/api/"+path)
	if got != status {
		v.t.Fatalf("/api/%s: %d, not %d: %s", path, got, status, body)
	}
	var out any
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		v.t.Fatalf("/api/%s: %v: %s", path, err, body)
	}
	return out
}

// eventually waits for a condition that other processes bring about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s did not happen", what)
}

// played makes a project with a whole run in it.
func played(t testing.TB) (dir, run string) {
	t.Helper()
	testrepo.Isolate()
	dir = filepath.Join(t.TempDir(), "demo")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	out, err := demo.Run(t.Context(), demo.Options{Dir: dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return dir, out.Run
}

// fresh makes a project with a run in which pm has a turn.
func fresh(t testing.TB) (dir string, turn *agentrun.Turn) {
	t.Helper()
	dir = testrepo.New(t, testrepo.Options{}).Dir
	if _, err := testproject.Init(t.Context(), dir, runner.ProjectOptions{ID: "proj"}); err != nil {
		t.Fatal(err)
	}
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	a, err := r.AssignTurn(t.Context(), runner.AssignOptions{Role: "pm"})
	if err != nil {
		t.Fatal(err)
	}
	return dir, a.Turn
}

func TestPagesOfARun(t *testing.T) {
	dir, run := played(t)
	v := serve(t, Options{Dir: dir})
	turn := v.api("history", 200).([]any)[2].(map[string]any)
	id, first := turn["turn_id"].(string), v.api("history", 200).([]any)[0].(map[string]any)["turn_id"].(string)
	op := string(v.s.model.now().Ops[0].Op)
	for path, want := range map[string][]string{
		"/": {"The run is completed.", run, "aria-current=\"page\"", "Phases", "planning_signoff",
			"<ol class=\"track\"", "no cost reported", "What was delivered", "<svg class=\"tl\"", "Ann Author",
			"greet.sh"},
		"/timeline": {"19 operations are recorded", "/ops/" + op, "Ann Author"},
		"/turns":    {"/turns/" + id, "Wrote greet.sh and its test."},
		"/turns/" + id: {"Wrote greet.sh and its test.", "sh greet_test.sh", "greet.sh", "POSIX sh, no dependencies.",
			"class=\"add\"", "turn checkpointed", "Which rules led to it", "accept turn: granted"},
		"/turns/" + first: {"Attempts", "sent back", "challenge the plan"},
		"/ops/" + op: {"/phase_gate_status/", "<span class=\"file\">.agentxchain/events.jsonl",
			"<span class=\"add\">&#43; ",
			"Ann Author", "Which rules led to it"},
		"/decisions":    {"DEC-001", "An empty name is refused", "human approval"},
		"/event-log":    {"run completed", "gate approved"},
		"/hooks":        {"No hook has run."},
		"/delegations":  {"No work has been delegated."},
		"/search?q=DEC": {"DEC-002"},
	} {
		got := v.page(path)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q:\n%s", path, w, mainOf(got))
			}
		}
	}
	eventually(t, "the check of the record", func() bool {
		return strings.Contains(v.page("/integrity"), "19 operations checked, nothing wrong.")
	})
	for _, path := range []string{"/nothing", "/turns/turn_x", "/ops/0123456789", "/board", "/ops/--help"} {
		if status, _, body := v.fetch("GET", path, "Accept", "text/html"); status != 404 ||
			!strings.Contains(body, "<h1") {
			t.Errorf("%s: %d\n%s", path, status, body)
		}
	}
}

// A page shows the very object that explain prints: every rule of it, with what it said, where it
// is written and what it looked at, as nested lists that need no script.
func TestPagesShowWhatExplainPrints(t *testing.T) {
	dir, _ := played(t)
	v := serve(t, Options{Dir: dir})
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	turn := v.api("history", 200).([]any)[2].(map[string]any)["turn_id"].(string)
	for path, of := range map[string]string{
		"/turns/" + turn:                            turn,
		"/gates/planning_signoff":                   "planning_signoff",
		"/ops/" + string(v.s.model.now().Ops[3].Op): string(v.s.model.now().Ops[3].Op),
	} {
		e, err := lookback.Explain(t.Context(), r, "", of)
		if err != nil || len(e.Chains) == 0 {
			t.Fatalf("%s: %v", of, err)
		}
		want := string(ojson.Compact(e.Object())) + "\n"
		if _, _, got := v.fetch("GET", "/api/explain?of="+url.QueryEscape(of)); got != want {
			t.Errorf("the API says of %s:\n%s\nand explain:\n%s", of, got, want)
		}
		body := v.page(path)
		i := strings.Index(body, `id="why"`)
		if i < 0 {
			t.Fatalf("%s shows no rules:\n%s", path, mainOf(body))
		}
		body = body[i:]
		rules := 0
		for _, c := range e.Chains {
			for s := range c.All() {
				rules++
				for _, want := range []string{s.Rule, s.Verdict, s.Spec, s.Config} {
					if !strings.Contains(body, html.EscapeString(want)) {
						t.Errorf("%s lacks %q of rule %s", path, want, s.Rule)
					}
				}
				for _, x := range s.Evidence {
					if x.SHA256 != "" && !strings.Contains(body, x.SHA256) {
						t.Errorf("%s lacks the digest of %s", path, x.Path)
					}
				}
			}
		}
		if end := strings.Index(body, "</section>"); strings.Count(body[:end], "<li>") < rules {
			t.Errorf("%s has fewer items than the %d rules that were asked", path, rules)
		}
	}
	if got := v.api("explain?of=nosuch", 404).(map[string]any)["code"]; got != "not_found" {
		t.Errorf("the API knows more than explain: %v", got)
	}
	if status, _, _ := v.fetch("GET", "/gates/nosuch", "Accept", "text/html"); status != 404 {
		t.Errorf("a gate that is not there: %d", status)
	}
	if body := mainOf(v.page("/gates/planning_signoff")); strings.Contains(body, ">open<") ||
		!strings.Contains(body, ">given<") {
		t.Errorf("a gate that was passed asks for an approval:\n%s", body)
	}
	if !strings.Contains(v.page("/"), `href="/gates/planning_signoff"`) {
		t.Error("the overview does not lead to the gate")
	}
	if err := os.Remove(filepath.Join(dir, ".planning", "ROADMAP.md")); err != nil {
		t.Fatal(err)
	}
	body := mainOf(serve(t, Options{Dir: dir}).page("/gates/planning_signoff"))
	if !strings.Contains(body, "The gate was passed.") || !strings.Contains(body, ">missing<") {
		t.Errorf("a file that went after the gate was passed is not told as such:\n%s", body)
	}
}

func TestLive(t *testing.T) {
	dir, turn := fresh(t)
	v := serve(t, Options{Dir: dir})
	if got := v.page("/"); !strings.Contains(got, "1 turn is under way in phase planning: pm.") ||
		!strings.Contains(got, "git agentxchain accept "+turn.TurnID) {
		t.Errorf("the overview:\n%s", got)
	}
	writeFile(t, dir, ".agentxchain/dispatch/turns/"+turn.TurnID+"/stdout.log",
		"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"I read <b>the plan</b>.\"}]}}\n")
	if got := v.page("/turns/" + turn.TurnID); !strings.Contains(got, "What the agent said and did") ||
		!strings.Contains(got, "I read &lt;b&gt;the plan&lt;/b&gt;.") || strings.Contains(got, "&#34;assistant") {
		t.Errorf("the page of a turn at work shows no steps of its agent:\n%s", mainOf(got))
	}
	listening := v.listen()
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Escalate(t.Context(), runner.Escalation{Reason: "who pays for <b>this</b>?"}); err != nil {
		t.Fatal(err)
	}
	// The ref moves before the files follow, so that there may be two events.
	got := ""
	for !strings.Contains(got, "The run is blocked") {
		select {
		case line := <-listening:
			if strings.Contains(line, "/api/state") {
				got = v.page("/")
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no event told of the escalation; the page is\n%s", got)
		}
	}
	if !strings.Contains(got, "The run is blocked") || !strings.Contains(got, "who pays for &lt;b&gt;this") ||
		strings.Contains(got, "<b>this") {
		t.Errorf("after an escalation:\n%s", got)
	}
}

func TestProjectTakenAway(t *testing.T) {
	dir, _ := fresh(t)
	v := serve(t, Options{Dir: dir})
	shows := func(message, command string) {
		t.Helper()
		eventually(t, "the page tells of it", func() bool {
			page := v.page("/")
			return strings.Contains(page, message) && strings.Contains(page, command)
		})
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	config, aside := filepath.Join(dir, wire.ConfigPath), filepath.Join(dir, "aside")
	move(config, aside)
	shows("agentxchain.json is gone.", "git restore agentxchain.json")
	move(aside, config)
	shows("1 turn is under way", "git agentxchain accept")
	if runtime.GOOS == "windows" {
		return // which does not move a directory that is open
	}
	move(dir, dir+".moved")
	shows("is gone.", "git agentxchain dashboard stop")
	if err := os.CopyFS(dir, os.DirFS(dir+".moved")); err != nil { // as if it were cloned anew
		t.Fatal(err)
	}
	shows("is another one than when this dashboard began.", "git agentxchain dashboard")
	for _, path := range []string{"state", "history"} {
		if got := v.api(path, 500).(map[string]any); got["code"] != "directory_unusable" {
			t.Errorf("%s: %v", path, got)
		}
	}
	move(dir, dir+".anew")
	move(dir+".moved", dir)
	shows("1 turn is under way", "git agentxchain accept")
}

// mainOf returns the main part of a page.
func mainOf(page string) string {
	if i := strings.Index(page, "<main"); i >= 0 {
		return page[i:]
	}
	return page
}

// listen returns the data lines of /events.
func (v *served) listen() <-chan string {
	v.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(v.base, "http://"))
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = conn.Close() })
	_, _ = fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n\r\n",
		strings.TrimPrefix(v.base, "http://"), tokenHeader, v.s.Token())
	out, hello := make(chan string, 100), make(chan struct{})
	go func() {
		buf, rest, said := make([]byte, 4096), "", false
		for {
			n, err := conn.Read(buf)
			rest += string(buf[:n])
			for {
				line, after, ok := strings.Cut(rest, "\n")
				if !ok {
					break
				}
				rest = after
				if data, ok := strings.CutPrefix(line, "data: "); ok {
					if !said {
						said = true
						close(hello)
						continue
					}
					out <- data
				}
			}
			if err != nil {
				return
			}
		}
	}()
	<-hello
	return out
}
