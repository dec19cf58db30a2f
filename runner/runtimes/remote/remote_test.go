package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/remote"
)

const (
	token  = "tok-0123456789-secret"
	result = `{"schema_version":"1.0","run_id":"run_1","turn_id":"turn_1","role":"dev","runtime_id":"far","status":"completed","summary":"done"}`
)

func request(log io.Writer, members ...any) *runtimes.Request {
	return &runtimes.Request{
		Root:        "/project",
		RunID:       "run_1",
		TurnID:      "turn_1",
		Role:        "dev",
		Phase:       "qa",
		BundleDir:   wire.BundleDir("turn_1"),
		StagingPath: wire.StagingPath("turn_1"),
		Prompt:      []byte("the prompt"),
		Context: []byte(
			"the context"),
		Log:      log,
		Activity: func(runtimes.Activity) {},
		Runtime: &config.Runtime{
			ID:   "far",
			Type: "remote_agent",
			Raw:  ojson.NewObject(members...),
		},
		Deadline: time.Now().Add(20 * time.Second),
		Getenv:   func(name string) string { return map[string]string{"FAR_TOKEN": token}[name] },
	}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestContract(t *testing.T) {
	var got map[string]any
	var header http.Header
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s", r.Method, r.Header.Get("Content-Type"))
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusAccepted) // any 2xx
		_, _ = io.WriteString(w, result)
	})
	var log bytes.Buffer
	out := remote.New().Dispatch(context.Background(), request(&log, "url", url+"/hook?key=sekret-in-query", "headers",
		ojson.NewObject("Authorization", "Bearer ${FAR_TOKEN}", "X-Plain", "plain-value-123")))
	if out.Kind != runtimes.Returned || !strings.Contains(string(out.Result), `"summary": "done"`) {
		t.Fatalf("%+v", out)
	}
	want := map[string]any{
		"run_id":       "run_1",
		"turn_id":      "turn_1",
		"role":         "dev",
		"phase":        "qa",
		"runtime_id":   "far",
		"dispatch_dir": "/project/.agentxchain/dispatch/turns/turn_1",
		"prompt":       "the prompt",
		"context":      "the context",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("sent %v", got)
	}
	if header.Get("Authorization") != "Bearer "+token {
		t.Errorf("authorization %q", header.Get("Authorization"))
	}
	for _, secret := range []string{token, "plain-value-123", "sekret-in-query"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q:\n%s", secret, log.String())
		}
	}
}

// A result that repeats a credential is recorded without it; other values of headers are ordinary words.
func TestRepeatedCredential(t *testing.T) {
	said := strings.Replace(result, "done", `t\u006fk-0123456789-secret of `+token, 1)
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, said) })
	for header, want := range map[string]string{
		"Authorization": `"summary": "*** of ***"`,
		"X-Api-Key":     `"summary": "*** of ***"`,
		"X-Project":     `"summary": "` + token + " of " + token + `"`,
	} {
		req := request(io.Discard, "url", url, "headers", ojson.NewObject(header, "${WORD}"))
		req.Getenv = func(string) string { return token }
		if out := remote.New().Dispatch(t.Context(), req); !strings.Contains(string(out.Result), want) {
			t.Errorf("%s: %s", header, out.Result)
		}
	}
}

func TestAnswers(t *testing.T) {
	say := func(status int, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	hang := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // or the end of the connection is not noticed
		if f, ok := w.(http.Flusher); ok && r.URL.Path == "/body" {
			_, _ = io.WriteString(w, "{")
			f.Flush()
		}
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	}
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		path    string
		members []any
		kind    string
		class   string
		retry   time.Duration
		again   bool
	}{
		"result": {say(200, result), "", nil, runtimes.Returned, "", 0, false},
		"429": {say(429, "slow down", "Retry-After", "17"), "", nil, runtimes.Blocked, "rate_limited",
			17 * time.Second, true},
		"500": {say(500, "oh no"), "", nil, runtimes.Blocked, "http_error", 0, true},
		"503": {say(503, ""), "", nil, runtimes.Blocked, "provider_overloaded", 0, true},
		"401": {say(401, "who are you "+token), "", nil, runtimes.Blocked, "auth_failure", 0, false},
		"404": {say(404, ""), "", nil, runtimes.Blocked, "http_error", 0, false},
		"redirect": {say(307, "", "Location", "http://127.0.0.1:9/elsewhere"), "", nil, runtimes.Blocked,
			"http_error", 0, false},
		"no JSON":     {say(200, "<html>"), "", nil, runtimes.Rejected, "", 0, false},
		"an array":    {say(200, "[1]"), "", nil, runtimes.Rejected, "", 0, false},
		"empty":       {say(204, ""), "", nil, runtimes.Rejected, "", 0, false},
		"no envelope": {say(200, `{"ok":true}`), "", nil, runtimes.Rejected, "", 0, false},
		"another turn": {say(200, strings.Replace(result, "turn_1", "turn_2", 1)), "", nil, runtimes.Rejected, "",
			0, false},
		"another run": {say(200, strings.Replace(result, "run_1", "run_2", 1)), "", nil, runtimes.Rejected, "",
			0, false},
		"another turn, named as the token": {say(200, strings.Replace(result, "turn_1", token, 1)), "", nil,
			runtimes.Rejected, "", 0, false},
		"truncated": {say(200, result[:40], "Content-Length", "5000"), "", nil, runtimes.Blocked,
			"network_failure", 0, true},
		"slow header": {hang, "", []any{"timeout_ms", 150}, runtimes.Blocked, "timeout", 0, true},
		"slow body":   {hang, "/body", []any{"timeout_ms", 150}, runtimes.Blocked, "timeout", 0, true},
		"unset variable": {say(200, result), "", []any{"headers", ojson.NewObject("X-Key", "${NOT_SET_HERE}")},
			runtimes.Blocked, "missing_credentials", 0, false},
		"header with break": {say(200, result), "", []any{"headers", ojson.NewObject("X-Key", "a\r\nX-Other: b")},
			runtimes.Blocked, "remote_agent_invalid", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			req := request(&log, append([]any{"url", serve(t, tc.handler) + tc.path, "headers",
				ojson.NewObject("Authorization", "Bearer ${FAR_TOKEN}")}, tc.members...)...)
			out := remote.New().Dispatch(context.Background(), req)
			if out.Kind != tc.kind || out.Class != tc.class || out.Retryable != tc.again ||
				out.RetryAfter != tc.retry {
				t.Errorf("%+v", out)
			}
			if tc.kind != runtimes.Returned && out.Reason == "" || tc.kind == runtimes.Blocked && out.Recovery == "" {
				t.Errorf("nothing is said: %+v", out)
			}
			if text := fmt.Sprintf("%+v %s", out, log.String()); strings.Contains(text, token) {
				t.Errorf("the token is told: %s", text)
			}
		})
	}
}

func TestFlood(t *testing.T) {
	var sent atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 1024 {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	if out := remote.New().Dispatch(context.Background(),
		request(io.Discard, "url", url)); out.Kind != runtimes.Rejected {
		t.Errorf("%+v", out)
	}
	if n := sent.Load(); n > protocol.MaxStagedBytes+64<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

func TestDeadlineAndAbort(t *testing.T) {
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	})
	req := request(io.Discard, "url", url)
	req.Deadline = time.Now().Add(100 * time.Millisecond)
	if out := remote.New().Dispatch(context.Background(), req); out.Kind != runtimes.TimedOut {
		t.Errorf("deadline: %+v", out)
	}
	req.Deadline = time.Now().Add(-time.Second)
	if out := remote.New().Dispatch(context.Background(), req); out.Kind != runtimes.TimedOut {
		t.Errorf("past deadline: %+v", out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if out := remote.New().Dispatch(ctx, request(io.Discard, "url", url)); out.Kind != runtimes.Aborted {
		t.Errorf("abort: %+v", out)
	}
}

// TestNobodyThere refuses connections.
func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://user:passw0rd@" + l.Addr().String() + "/x"
	_ = l.Close()
	out := remote.New().Dispatch(context.Background(), request(io.Discard, "url", url))
	if out.Kind != runtimes.Blocked || out.Class != "network_failure" ||
		strings.Contains(fmt.Sprint(out), "passw0rd") {
		t.Errorf("%+v", out)
	}
	for online, code := range map[bool]string{true: "unreachable", false: "configured"} {
		got := remote.New().Probe(context.Background(), &runtimes.ProbeRequest{
			Runtime: request(nil, "url", url).Runtime,
			Getenv:  func(string) string { return "" },
			Online:  online,
		})
		if len(got) != 1 || got[0].Code != code {
			t.Errorf("online %v: %+v", online, got)
		}
	}
}

// TestTLS does not talk to a server with an unknown certificate.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, result) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains about the client
	s.StartTLS()
	defer s.Close()
	if out := remote.New().Dispatch(context.Background(),
		request(io.Discard, "url", s.URL)); out.Kind != runtimes.Blocked || out.Class != "network_failure" ||
		!strings.Contains(out.Reason, "certificate") {
		t.Errorf("%+v", out)
	}
}
