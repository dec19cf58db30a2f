// Services written from the protocol's text alone, in other languages and shapes: they leave out
// what the text leaves open, and the check must stay green.

package conform

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// foreign is what the five Go servers have in common: the minimum of a service. Each shape differs
// in what it adds.
type foreign struct {
	mu     sync.Mutex
	keys   map[string]string
	runs   map[string]string
	shape  string
	events func(run string) []map[string]any
}

func (f *foreign) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := r.Header.Get("X-Correlation-Id")
	send := func(status int, doc map[string]any) {
		doc["correlationId"] = id
		doc["protocol"] = map[string]any{"protocol_version": "1.1", "capabilities": []string{"governed-runs"}}
		if _, has := doc["ok"]; !has {
			doc["ok"] = true
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(doc)
	}
	no := func(status int, code string) {
		doc := map[string]any{"ok": false, "error": map[string]any{"code": code, "message": "no"}}
		if f.shape == "aliases" {
			doc["code"], doc["success"] = code, false
		}
		send(status, doc)
	}
	session := func(run string) map[string]any {
		doc := map[string]any{
			"sessionId": run,
			"userId":    nil,
			"intent":    f.runs[run],
			"status":    "completed",
			"progress":  100,
			"nextStep":  nil,
			"summary":   "",
			"timeline": []any{map[string]any{"type": "session.created"},
				map[string]any{"type": "session.completed"}},
		}
		if f.shape == "aliases" {
			doc["sessionId"], doc["executionId"] = "s-"+run, run
		}
		return doc
	}
	path := strings.TrimPrefix(r.URL.Path, "/alx/v1")
	switch {
	case path == "":
		send(200, map[string]any{})
	case path == "/solve":
		var req struct {
			Intent   string
			Key      string `json:"idempotencyKey"`
			Protocol struct {
				Version string `json:"protocol_version"`
			}
		}
		if json.NewDecoder(r.Body).Decode(&req) != nil || req.Intent == "" ||
			req.Protocol.Version != "" && !strings.HasPrefix(req.Protocol.Version, "1.") {
			no(400, "bad_request")
			return
		}
		run, known := f.keys[req.Key]
		if !known {
			run = fmt.Sprintf("r%d", len(f.runs))
			f.keys[req.Key], f.runs[run] = run, req.Intent
		}
		doc := map[string]any{
			"success":     true,
			"executionId": run,
			"artifact":    nil,
			"result":      "done",
			"confidence":  0.5,
			"execution":   map[string]any{},
			"steps":       []any{},
			"learning":    nil,
		}
		if f.shape == "aliases" {
			doc["execution"] = map[string]any{"sessionId": "s-" + run}
			doc["confidenceScore"], doc["cached"] = 0.5, known
		}
		send(200, doc)
	case path == "/sessions":
		list := []any{}
		for run := range f.runs {
			list = append(list, session(run))
		}
		send(200, map[string]any{"sessions": list})
	case strings.HasPrefix(path, "/sessions/"):
		run := strings.TrimPrefix(strings.TrimPrefix(path, "/sessions/"), "s-")
		if _, ok := f.runs[run]; !ok {
			no(404, "unknown.session")
			return
		}
		send(200, session(run))
	case strings.HasSuffix(path, "/events"):
		run := strings.TrimSuffix(strings.TrimPrefix(path, "/runs/"), "/events")
		if _, ok := f.runs[run]; !ok {
			no(404, "unknown.run")
			return
		}
		list := f.events(run)
		if f.shape == "streams only" || r.Header.Get("Accept") == "text/event-stream" && f.shape != "pages only" {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("X-Correlation-Id", id)
			for _, e := range list {
				data, _ := json.Marshal(e)
				_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
			}
			return
		}
		send(200, map[string]any{"events": list})
	default:
		no(404, "nothing_here")
	}
}

func bare(string) []map[string]any {
	return []map[string]any{{"type": "run.started"}, {"type": "run.completed", "ok": true}}
}

func numbered(run string) []map[string]any {
	out := bare(run)
	for i := range out {
		out[i]["sequence"], out[i]["runId"] = i, run // from 0
	}
	return out
}

func TestForeignServicesAreGreen(t *testing.T) {
	testrepo.Thorough(t)
	for _, c := range []struct {
		shape  string
		events func(string) []map[string]any
	}{
		{"the least", bare},
		{"aliases", numbered},
		{"streams only", numbered},
		{"pages only", bare},
	} {
		t.Run(c.shape, func(t *testing.T) {
			s := httptest.NewServer(&foreign{
				keys:   map[string]string{},
				runs:   map[string]string{},
				shape:  c.shape,
				events: c.events,
			})
			defer s.Close()
			green(t, s.URL)
		})
	}
	for name, command := range map[string][]string{
		"Python": {"python3", filepath.Join("testdata", "foreign.py")},
		"Node":   {"node", filepath.Join("testdata", "foreign.mjs")},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skip(command[0] + " is not installed")
			}
			cmd := exec.Command(command[0], command[1:]...)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			green(t, strings.TrimSpace(line))
		})
	}
}

func green(t *testing.T, url string) {
	t.Helper()
	r := check(t, url)
	for _, x := range r.Rules {
		if x.Verdict == Fail || x.Verdict == Unproven {
			explain(t, r)
			t.Fatalf("red: %s", reds(r))
		}
	}
}
