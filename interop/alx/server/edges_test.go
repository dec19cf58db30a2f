// Edge cases of standard clients: event sources that reconnect, bodies that stall, requests that
// the HTTP library refuses by itself.

package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
)

func TestAnEventSourceThatHasEverythingIsSentAway(t *testing.T) {
	repo := project(t, testrepo.Options{}, []string{"build", "ship"}, nil)
	v := start(t, repo.Dir, nil)
	a := ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", "x"))
	got, err := alx.Decoder{Strict: true}.SolveResponse(a.raw)
	if err != nil || a.status != 200 {
		t.Fatalf("%v %d %s", err, a.status, a.raw)
	}
	events, ended := follow(t, v.url, got.ExecutionID, "", nil)
	if !ended || len(events) == 0 {
		t.Fatalf("%v %+v", ended, events)
	}
	req, err := http.NewRequest(http.MethodGet, v.url+alx.PathRuns+"/"+got.ExecutionID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", alx.MediaEventStream)
	req.Header.Set(alx.HeaderLastEventID, events[len(events)-1].ID)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusNoContent || res.Header.Get(alx.HeaderCorrelationID) == "" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	var phases []string
	for _, e := range events {
		if e.Type == alx.TurnAccepted {
			phases = append(phases, e.Data.String("phase"))
		}
	}
	if got := strings.Join(phases, " "); got != "build ship" {
		t.Errorf("turns were accepted in the phases %s", got)
	}
}

// raw sends bytes unchanged and returns the answer.
func raw(t *testing.T, url, text string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	go func() { _, _ = io.WriteString(conn, text) }()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// A body that no handler reads and that does not come delays no answer, and keeps no connection: sending one needs no
// token.
func TestBodyThatDoesNotCome(t *testing.T) {
	v := start(t, project(t, testrepo.Options{}, []string{"build", "ship"}, nil).Dir, nil)
	for line, status := range map[string]int{
		"POST /nowhere":        404,
		"PUT " + alx.PathSolve: 405,
		"GET /healthz":         200,
	} {
		res, _ := raw(t, v.url, line+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{")
		if res.StatusCode != status || !res.Close {
			t.Errorf("%s: %d, the connection ends: %v", line, res.StatusCode, res.Close)
		}
	}
	res, _ := raw(t, v.url, "POST "+alx.PathSolve+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: 2\r\n\r\n{}")
	if res.StatusCode != 400 || res.Close {
		t.Errorf("a body that came: %d, the connection ends: %v", res.StatusCode, res.Close)
	}
}

func TestEarlyRefusalsHaveTheEnvelope(t *testing.T) {
	v := start(t, project(t, testrepo.Options{}, []string{"build", "ship"}, nil).Dir, nil)
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"no host": {"GET /alx/v1 HTTP/1.1\r\n\r\n", 400},
		"large headers": {"GET /alx/v1 HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n",
			431},
		"no HTTP at all": {"hello\r\n\r\n", 400},
	} {
		res, body := raw(t, v.url, c.text)
		if res.StatusCode != c.status || res.Header.Get("Content-Type") != alx.MediaJSON ||
			!strings.HasPrefix(body, `{"ok":false,"correlationId":"`+res.Header.Get(alx.HeaderCorrelationID)) ||
			!strings.Contains(body, `"code":"`) {
			t.Errorf("%s: %d %v %s", name, res.StatusCode, res.Header, body)
		}
	}
}

func TestReadinessTellsStrangersNothing(t *testing.T) {
	repo := project(t, testrepo.Options{}, []string{"build", "ship"}, nil)
	edit(t, repo, func(cfg *ojson.Object) { cfg.Set("phases", "none"); cfg.Set("routing", 7) })
	v := start(t, repo.Dir, func(o *server.Options) { o.Token = "a-token-of-some-length" })
	a := ask(t, "GET", v.url+"/readyz", "")
	if a.status != 503 || a.code() != alx.CodeUnavailable || strings.Contains(string(a.raw), "agentxchain.json") {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

// A stalled body is answered in the end. It takes as long as a body may.
func TestAStalledBodyIsAnswered(t *testing.T) {
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "1" {
		t.Skip("waits half a minute; AGENTXCHAIN_LONG_TESTS=1 runs it")
	}
	v := start(t, project(t, testrepo.Options{}, []string{"ship"}, nil).Dir, nil)
	res, body := raw(t, v.url, "POST "+alx.PathSolve+
		" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	if res.StatusCode != http.StatusRequestTimeout || !strings.Contains(body, `"success":false`) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}
