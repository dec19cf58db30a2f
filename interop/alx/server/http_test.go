package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Every request gets an envelope, whatever is wrong with it.
func TestRequests(t *testing.T) {
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	v := start(t, repo.Dir, nil)
	done := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"first","sessionId":"one"}`)
	run := done.body.String("executionId")
	port := v.url[strings.LastIndexByte(v.url, ':'):]
	big := `{"intent":"` + strings.Repeat("x", alx.MaxBodyBytes) + `"}`
	deep := `{"intent":"x","constraints":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`
	page := alx.RunEventsPath(run)
	for _, c := range []struct {
		what, method, path, body string
		header                   []string
		status                   int
		code                     string
	}{
		{"info", "GET", "/alx/v1", "", nil, 200, ""},
		{"info with a slash", "GET", "/alx/v1/", "", nil, 200, ""},
		{"health", "GET", "/healthz", "", nil, 200, ""},
		{"ready", "GET", "/readyz", "", nil, 200, ""},
		{"no metrics", "GET", "/metrics", "", nil, 404, alx.CodeNotFound},
		{"elsewhere", "GET", "/", "", nil, 404, alx.CodeNotFound},
		{"above", "GET", "/alx/v1/sessions/../../etc", "", nil, 404, alx.CodeNotFound},
		{"a session", "GET", "/alx/v1/sessions/one", "", nil, 200, ""},
		{"a session by its run", "GET", "/alx/v1/sessions/" + run, "", nil, 200, ""},
		{"no session", "GET", "/alx/v1/sessions/two", "", nil, 404, alx.CodeSessionNotFound},
		{"a session that is a path", "GET", "/alx/v1/sessions/..%2f..%2fone", "", nil, 404, alx.CodeNotFound},
		{"no run", "GET", "/alx/v1/runs/nope/events", "", nil, 404, alx.CodeRunNotFound},
		{"wrong method", "PUT", "/alx/v1/solve", "{}", nil, 405, alx.CodeMethodNotAllowed},
		{"solve by GET", "GET", "/alx/v1/solve", "", nil, 405, alx.CodeMethodNotAllowed},
		{"odd method", "BREW", "/alx/v1", "", nil, 405, alx.CodeMethodNotAllowed},
		{"not JSON wanted", "GET", "/alx/v1/sessions", "", []string{"Accept", "text/html"}, 406,
			alx.CodeNotAcceptable},
		{"JSON refused", "GET", "/alx/v1/sessions", "", []string{"Accept", "*/*, application/json;q=0"}, 406,
			alx.CodeNotAcceptable},
		{"neither of events", "GET", page, "", []string{"Accept", "image/png"}, 406, alx.CodeNotAcceptable},
		{"not JSON given", "POST", "/alx/v1/solve", "intent=x",
			[]string{"Content-Type", "application/x-www-form-urlencoded"}, 415, alx.CodeUnsupportedMediaType},
		{"encoded", "POST", "/alx/v1/solve", `{"intent":"x"}`, []string{"Content-Encoding", "gzip"}, 415,
			alx.CodeUnsupportedMediaType},
		{"no JSON at all", "POST", "/alx/v1/solve", `{"intent":`, nil, 400, alx.CodeInvalidJSON},
		{"a list", "POST", "/alx/v1/solve", `[]`, nil, 400, alx.CodeInvalidJSON},
		{"twice the same", "POST", "/alx/v1/solve", `{"intent":"x","intent":"y"}`, nil, 400, alx.CodeInvalidJSON},
		{"no intent", "POST", "/alx/v1/solve", `{"intent":" "}`, nil, 400, alx.CodeInvalidRequest},
		{"intent of another type", "POST", "/alx/v1/solve", `{"intent":7}`, nil, 400, alx.CodeInvalidRequest},
		{"long intent", "POST", "/alx/v1/solve", `{"intent":"` + strings.Repeat("x", alx.MaxIntentRunes+1) + `"}`, nil,
			400, alx.CodeInvalidRequest},
		{"too large", "POST", "/alx/v1/solve", big, nil, 413, alx.CodeBodyTooLarge},
		{"too deep", "POST", "/alx/v1/solve", deep, nil, 400, alx.CodeInvalidJSON},
		{"session taken", "POST", "/alx/v1/solve", `{"intent":"x","sessionId":"one"}`, nil, 400,
			alx.CodeInvalidRequest},
		{"session that is a path", "POST", "/alx/v1/solve", `{"intent":"x","sessionId":"../x"}`, nil, 400,
			alx.CodeInvalidRequest},
		{"another major", "POST", "/alx/v1/solve", `{"intent":"x","protocol":{"protocol_version":"2.0"}}`, nil, 400,
			alx.CodeProtocolVersionUnsupported},
		{"limit", "GET", "/alx/v1/sessions?limit=0", "", nil, 400, alx.CodeInvalidRequest},
		{"status", "GET", "/alx/v1/sessions?status=happy", "", nil, 400, alx.CodeInvalidRequest},
		{"cursor", "GET", "/alx/v1/sessions?cursor=%2e%2e", "", nil, 400, alx.CodeInvalidCursor},
		{"event id", "GET", page + "?after=evt_0", "", nil, 400, alx.CodeInvalidCursor},
		{"last event id", "GET", page, "", []string{"Last-Event-ID", "7", "Accept", alx.MediaEventStream}, 400,
			alx.CodeInvalidCursor},
		{"foreign host", "GET", "/alx/v1", "", []string{"Host", "agents.example.org" + port}, 403, alx.CodeForbidden},
		{"host that looks like ours", "GET", "/healthz", "", []string{"Host", "127.0.0.1.example.org" + port}, 403,
			alx.CodeForbidden},
		{"localhost", "GET", "/alx/v1", "", []string{"Host", "localhost" + port}, 200, ""},
		{"ip6", "GET", "/alx/v1", "", []string{"Host", "[::1]" + port}, 200, ""},
		{"foreign page", "POST", "/alx/v1/solve", `{"intent":"x"}`, []string{"Origin", "https://example.org"}, 403,
			alx.CodeForbidden},
		{"null page", "POST", "/alx/v1/solve", `{"intent":"x"}`, []string{"Origin", "null"}, 403, alx.CodeForbidden},
		{"cross-site", "GET", "/alx/v1/sessions", "", []string{"Sec-Fetch-Site", "cross-site"}, 403,
			alx.CodeForbidden},
	} {
		a := ask(t, c.method, v.url+c.path, c.body, append([]string{"X-Correlation-Id", "c-1"}, c.header...)...)
		if a.status != c.status || a.header.Get(alx.HeaderProtocolVersion) != alx.Version ||
			a.header.Get(alx.HeaderCorrelationID) != "c-1" {
			t.Errorf("%s: %d %v %.300s", c.what, a.status, a.header, a.raw)
			continue
		}
		if a.body.String("correlationId") != "c-1" ||
			a.body.Object("protocol").String("protocol_version") != alx.Version ||
			a.body.Bool("ok") != (c.status < 400) || a.code() != c.code {
			t.Errorf("%s: %.300s", c.what, a.raw)
		}
		if c.status >= 400 {
			if _, err := (alx.Decoder{Strict: true}).Failure(a.raw); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
		}
	}
	if n := len(ask(t, "GET", v.url+alx.PathSessions, "").body.Array("sessions")); n != 1 {
		t.Errorf("%d sessions: a refused request made one", n)
	}
	for _, method := range []string{"HEAD", "OPTIONS"} {
		a := ask(t, method, v.url+alx.PathSessions, "")
		if len(a.raw) != 0 || a.status != map[string]int{"HEAD": 200, "OPTIONS": 204}[method] ||
			method == "OPTIONS" && a.header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s: %d %v %s", method, a.status, a.header, a.raw)
		}
	}
	if a := ask(t, "GET", v.url+"/alx/v1", "", "X-Correlation-Id",
		"not sane, this"); !alx.SaneCorrelationID(a.header.Get(alx.HeaderCorrelationID)) {
		t.Errorf("%v", a.header)
	}
	if a := ask(t, "POST", v.url+alx.PathSolve,
		`{"intent":"x","correlationId":"from-body","idempotencyKey":"z"}`); a.body.String(
		"correlationId") != "from-body" {
		t.Errorf("%s", a.raw)
	}
}

// The list continues where a page ended, whatever comes in meanwhile.
func TestPages(t *testing.T) {
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	v := start(t, repo.Dir, nil)
	var want []string
	for i := range 5 {
		id := fmt.Sprintf("s%d", i)
		ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", "x", "sessionId", id, "userId", fmt.Sprint(i%2)),
			"Prefer", "respond-async")
		want = append([]string{id}, want...)
	}
	var got []string
	cursor := ""
	for n := 0; ; n++ {
		a := ask(t, "GET", v.url+alx.PathSessions+"?limit=2&cursor="+cursor, "")
		list, err := alx.Decoder{Strict: true}.SessionList(a.raw)
		if err != nil {
			t.Fatalf("%v %s", err, a.raw)
		}
		for _, s := range list.Sessions {
			got = append(got, s.SessionID)
		}
		if cursor = list.NextCursor; cursor == "" {
			break
		}
		ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", "late", "sessionId", fmt.Sprintf("late%d", n)),
			"Prefer", "respond-async")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	a := ask(t, "GET", v.url+alx.PathSessions+"?userId=1", "")
	if n := len(a.body.Array("sessions")); n != 2 {
		t.Errorf("%s", a.raw)
	}
	s := until(t, v.url, "s0", func(s *alx.SessionResponse) bool { return s.Status == alx.StatusCompleted })
	var events []alx.RunEvent
	for after := ""; ; {
		a := ask(t, "GET", v.url+alx.RunEventsPath(s.ExecutionID)+"?limit=2&after="+after, "")
		p, err := alx.Decoder{Strict: true}.RunEventPage(a.raw)
		if err != nil {
			t.Fatalf("%v %s", err, a.raw)
		}
		if events = append(events, p.Events...); p.Ended {
			break
		}
		after = p.NextCursor
	}
	inOrder(t, s.ExecutionID, events)
}

// When a token is required, only health is answered without it.
func TestToken(t *testing.T) {
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	v := start(t, repo.Dir, func(o *server.Options) { o.Token = "open-sesame-open-sesame" })
	for header, status := range map[string]int{
		"":                                401,
		"Bearer wrong":                    401,
		"Basic open-sesame-open-sesame":   401,
		"Bearer open-sesame-open-sesame":  200,
		"bearer  open-sesame-open-sesame": 200,
	} {
		for _, path := range []string{alx.PathService, alx.PathSessions} {
			a := ask(t, "GET", v.url+path, "", "Authorization", header)
			if a.status != status ||
				status == 401 && (a.header.Get("WWW-Authenticate") == "" || a.code() != alx.CodeUnauthorized) {
				t.Errorf("%q: %d %s", header, a.status, a.raw)
			}
		}
	}
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401, "/nowhere": 401} {
		if a := ask(t, "GET", v.url+path, ""); a.status != status {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if _, err := server.Listen(t.Context(), "0.0.0.0:0", ""); err == nil ||
		!strings.Contains(err.Error(), "needs a token") {
		t.Errorf("%v", err)
	}
	if _, err := server.Listen(t.Context(), "0.0.0.0:0", "short"); err == nil || !strings.Contains(err.Error(), "16") {
		t.Errorf("%v", err)
	}
}

// A network client cannot make this machine run what its owner has not agreed to, nor wait for a
// person who was never asked.
func TestNotReady(t *testing.T) {
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	v := start(t, repo.Dir, func(o *server.Options) {
		o.Runner = runner.Options{Getenv: func(string) string { return "" }}
	})
	refused := func(code string, hint string) {
		t.Helper()
		a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"x"}`)
		if a.status != 503 || a.code() != code || !strings.Contains(a.body.Object("error").String("hint"), hint) ||
			a.header.Get("Retry-After") == "" {
			t.Errorf("%d %s", a.status, a.raw)
		}
		if n := len(ask(t, "GET", v.url+alx.PathSessions, "").body.Array("sessions")); n != 0 {
			t.Errorf("%d sessions", n)
		}
	}
	refused(alx.CodeRuntimeUntrusted, "hooks trust")
	edit(t, repo, func(cfg *ojson.Object) {
		cfg.Object("roles").Object("dev").Set("runtime", "by_hand")
		cfg.Object("runtimes").Set("by_hand", ojson.NewObject("type", "manual"))
	})
	refused(alx.CodeRuntimeNotAutomatic, "local_cli")
	repo.Git("rm", "-q", "--cached", wire.ConfigPath)
	repo.Git("commit", "-q", "-m", "no project any more")
	refused(alx.CodeProjectNotReady, "git add")
	if out := repo.Git("for-each-ref", "refs/agentxchain", "refs/heads/agentxchain"); out != "" {
		t.Errorf("something was begun: %s", out)
	}
	moved := repo.Dir + ".moved"
	if err := os.Rename(repo.Dir, moved); err != nil {
		t.Fatal(err)
	}
	refused(alx.CodeProjectNotReady, "bring it back, or start again where it is now")
	if err := os.Rename(moved, repo.Dir); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, repo *testrepo.Repo, change func(cfg *ojson.Object)) {
	t.Helper()
	data, err := os.ReadFile(repo.Path(wire.ConfigPath))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	change(cfg)
	repo.Write(wire.ConfigPath, string(ojson.Pretty(cfg)))
	repo.CommitAll("configure")
}

// A client that never reads delays no other and is disconnected; a client that sends its body a
// byte now and then gets a timeout.
func TestSlowClients(t *testing.T) {
	testrepo.Serving(t)
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	v := start(t, repo.Dir, nil)
	a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"x","sessionId":"s"}`)
	run := a.body.String("executionId")
	for range 20 {
		c, err := net.Dial("tcp", strings.TrimPrefix(v.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
			alx.RunEventsPath(run)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(v.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := fmt.Fprintf(c,
		"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"intent\"",
		alx.PathSolve); err != nil {
		t.Fatal(err)
	}
	events, ended := follow(t, v.url, run, "", nil)
	if !ended {
		t.Error("a client that reads did not get its events")
	}
	inOrder(t, run, events)
	began := time.Now()
	v.stop() // does not wait for them longer than allowed
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("ending took %v", took)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && resp.StatusCode == http.StatusOK {
		t.Errorf("half a request was answered: %s", resp.Status)
	}
}
