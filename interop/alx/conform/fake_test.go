// A small endpoint of the protocol for the tests: correct, unless a test breaks it.

package conform

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/sse"
)

// fake is an endpoint whose runs complete at once, with one earlier failed run. Its documents are
// written as plain members, so that a test can break each.
type fake struct {
	mu     sync.Mutex
	runs   map[string]string // run id -> intent
	keys   map[string]string // idempotency key -> run id
	count  int
	solves int

	// edit changes an answer before it is sent; r is the request, doc the members, status the HTTP
	// status.
	edit func(r *http.Request, status int, doc map[string]any) int
	// head changes the headers of an answer.
	head func(r *http.Request, h http.Header)
	// event changes an event.
	event func(e map[string]any)
	// refuse refuses a solve request with its code.
	refuse func(req map[string]any) string
}

func newFake() *fake {
	return &fake{runs: map[string]string{"run_old": "an intent that failed"}, keys: map[string]string{}}
}

func (f *fake) serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, alx.PathService)
	switch {
	case path == "" && r.Method == "GET":
		f.send(w, r, 200, members(alx.NewServiceInfo("x", alx.Service{Name: "fake", Version: "1"})))
	case path == "/solve" && r.Method == "POST":
		f.solve(w, r)
	case path == "/sessions":
		list := []any{}
		for id, intent := range f.runs {
			item := f.session(id, intent)
			delete(item, "timeline")
			list = append(list, item)
		}
		f.send(w, r, 200, map[string]any{"sessions": list})
	case strings.HasPrefix(path, "/sessions/"):
		id := "run_" + strings.TrimPrefix(path, "/sessions/ses_")
		intent, ok := f.runs[id]
		if !ok {
			f.fail(w, r, alx.CodeSessionNotFound)
			return
		}
		f.send(w, r, 200, f.session(id, intent))
	case strings.HasSuffix(path, "/events"):
		id := strings.TrimSuffix(strings.TrimPrefix(path, "/runs/"), "/events")
		if _, ok := f.runs[id]; !ok {
			f.fail(w, r, alx.CodeRunNotFound)
			return
		}
		f.events(w, r, id)
	default:
		f.fail(w, r, alx.CodeNotFound)
	}
}

func (f *fake) solve(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	req, failure := alx.DecodeSolveRequest(data)
	if failure != nil {
		f.fail(w, r, failure.Code)
		return
	}
	raw := map[string]any{}
	_ = json.Unmarshal(data, &raw)
	if f.refuse != nil {
		if code := f.refuse(raw); code != "" {
			f.fail(w, r, code)
			return
		}
	}
	f.solves++
	id := f.keys[req.IdempotencyKey]
	if id == "" {
		f.count++
		id = fmt.Sprintf("run_%d", f.count)
		f.runs[id], f.keys[req.IdempotencyKey] = req.Intent, id
	}
	block := &alx.KnowledgeBlock{Kind: alx.BlockKindRun, Intent: req.Intent, Summary: "done"}
	if err := kb.Seal(block); err != nil {
		panic(err)
	}
	f.send(w, r, 200, members(&alx.SolveResponse{
		Envelope:    alx.NewEnvelope(true, "x"),
		Success:     true,
		ExecutionID: id,
		Artifact:    block,
		Result:      "done",
		Confidence:  1,
		Execution:   alx.Execution{Status: alx.StatusCompleted, SessionID: "ses_" + strings.TrimPrefix(id, "run_")},
		Steps:       []alx.Step{{Index: 1, TurnID: "turn_1", Status: alx.StepAccepted}},
	}))
}

func (f *fake) session(id, intent string) map[string]any {
	s := &alx.SessionResponse{Session: alx.Session{
		SessionID:   "ses_" + strings.TrimPrefix(id, "run_"),
		Intent:      intent,
		UserID:      "ann",
		Status:      alx.StatusCompleted,
		Progress:    1,
		ExecutionID: id,
	}}
	last := alx.SessionCompleted
	if id == "run_old" {
		s.Status, last = alx.StatusFailed, alx.SessionFailed
	}
	for i, kind := range []alx.TimelineEventType{alx.SessionCreated, alx.SessionStep, last} {
		s.Timeline = append(s.Timeline, alx.TimelineEvent{Type: kind, ID: fmt.Sprint(i + 1), Sequence: int64(i + 1)})
	}
	m := members(s)
	for _, k := range []string{"ok", "correlationId", "protocol"} {
		delete(m, k)
	}
	return m
}

func (f *fake) events(w http.ResponseWriter, r *http.Request, id string) {
	kinds := []alx.RunEventType{alx.RunStarted, alx.TurnDispatched, alx.TurnAccepted, alx.RunCompleted}
	if id == "run_old" {
		kinds[3] = alx.RunFailed
	}
	after := r.URL.Query().Get("after")
	if after == "" {
		after = r.Header.Get(alx.HeaderLastEventID)
	}
	var list []any
	for i, kind := range kinds {
		if after != "" && after >= fmt.Sprint(i+1) {
			continue
		}
		e := (&alx.RunEvent{
			Type:          kind,
			ID:            fmt.Sprint(i + 1),
			Sequence:      int64(i + 1),
			RunID:         id,
			CorrelationID: "c",
			Data:          &ojson.Object{},
		}).SetOK()
		m := members(e)
		if f.event != nil {
			f.event(m)
		}
		list = append(list, m)
	}
	if r.Header.Get("Accept") != alx.MediaEventStream {
		f.send(w, r, 200, map[string]any{"runId": id, "events": list, "ended": true})
		return
	}
	w.Header().Set("Content-Type", alx.MediaEventStream)
	if f.head != nil {
		f.head(r, w.Header())
	}
	for _, e := range list {
		m := e.(map[string]any)
		data, _ := json.Marshal(m)
		_, _ = w.Write(sse.Append([]byte(": heartbeat\n"), sse.Event{
			ID:   m["id"].(string),
			Type: fmt.Sprint(m["type"]),
			Data: string(data),
		}))
	}
}

func (f *fake) fail(w http.ResponseWriter, r *http.Request, code string) {
	f.send(w, r, alx.HTTPStatus(code),
		map[string]any{"ok": false, "error": map[string]any{"code": code, "message": "a sentence"}})
}

func (f *fake) send(w http.ResponseWriter, r *http.Request, status int, doc map[string]any) {
	ok, has := doc["ok"]
	head := members(alx.NewEnvelope(!has || ok == true, r.Header.Get(alx.HeaderCorrelationID)))
	maps.Copy(doc, head)
	if f.edit != nil {
		status = f.edit(r, status, doc)
	}
	w.Header().Set("Content-Type", alx.MediaJSON)
	if f.head != nil {
		f.head(r, w.Header())
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

// members returns a document as a map that a test can change.
func members(doc any) map[string]any {
	m := map[string]any{}
	if err := json.Unmarshal(ojson.Compact(ojson.Marshal(doc)), &m); err != nil {
		panic(err)
	}
	return m
}
