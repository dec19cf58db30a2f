// Green for an endpoint that keeps the rules, red, rule by rule, for those that do not.

package conform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

func check(t *testing.T, url string) *Report {
	t.Helper()
	r, err := Check(context.Background(), Options{URL: url, Request: 2 * time.Second, Wait: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func reds(r *Report) string {
	var out []string
	for _, x := range r.Rules {
		if x.Verdict != Pass {
			out = append(out, x.ID+":"+x.Verdict)
		}
	}
	return strings.Join(out, " ")
}

func explain(t *testing.T, r *Report) {
	t.Helper()
	for _, x := range r.Rules {
		for _, o := range x.Failures() {
			t.Logf("%s %s: %s\n  sent %s\n  received %s", x.ID, o.What, o.Why, o.Sent, o.Received)
		}
		if x.Note != "" {
			t.Logf("%s note: %s", x.ID, x.Note)
		}
	}
}

func TestAnEndpointThatKeepsTheRulesIsGreen(t *testing.T) {
	f := newFake()
	r := check(t, f.serve(t)+"/alx/v1/")
	if got := reds(r); got != "" {
		explain(t, r)
		t.Fatal(got)
	}
	for _, x := range r.Rules {
		if len(x.Observations) == 0 || x.Note != "" {
			t.Errorf("%s was judged by %d observations, note %q", x.ID, len(x.Observations), x.Note)
		}
	}
	if len(f.runs) != 2 {
		t.Errorf("%d runs; the check may start one", len(f.runs)-1)
	}
	if r.Version != alx.Version || r.Execution != "run_1" || !r.Passed() {
		t.Errorf("version %q, execution %q", r.Version, r.Execution)
	}
}

// TestEachBrokenRuleIsRedAlone has at least one way to break the protocol for each of the ten
// rules, and several for some.
func TestEachBrokenRuleIsRedAlone(t *testing.T) {
	is := func(r *http.Request, part string) bool { return strings.Contains(r.URL.Path, part) }
	for _, c := range []struct {
		name, rule string
		breakIt    func(*fake)
	}{
		{"a field of another kind", "WG-01", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if _, has := doc["confidence"]; has {
					doc["confidence"] = "high"
				}
				return status
			}
		}},
		{"a second copy in another spelling", "WG-01", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if id, has := doc["executionId"]; has {
					doc["execution_id"] = id
				}
				return status
			}
		}},
		{"a second copy of the envelope's field", "WG-01", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if status == http.StatusNotFound {
					doc["correlation_id"] = doc["correlationId"]
				}
				return status
			}
		}},
		{"another negotiation envelope on one surface", "WG-01", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if is(r, "/sessions") {
					doc["protocol"] = map[string]any{"protocol_version": "1.0", "capabilities": []any{}}
				}
				return status
			}
		}},
		{"failures without protocol", "WG-02", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if status >= 400 {
					delete(doc, "protocol")
				}
				return status
			}
		}},
		{"another correlation id", "WG-02", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				doc["correlationId"] = "of its own"
				return status
			}
		}},
		{"ok as text", "WG-02", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if is(r, "/events") && status == 200 {
					doc["ok"] = "true"
				}
				return status
			}
		}},
		{"a timeline event of its own", "WG-03", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["timeline"].([]any); ok {
					list[1].(map[string]any)["type"] = "session.coffee"
				}
				return status
			}
		}},
		{"a run event of its own", "WG-04", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["type"] == "turn.dispatched" {
					e["type"] = "turn.sent"
				}
			}
		}},
		{"codes that are sentences", "WG-05", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if e, ok := doc["error"].(map[string]any); ok {
					e["code"] = "Something went wrong!"
				}
				return status
			}
		}},
		{"codes that change", "WG-05", func(f *fake) {
			n := 0
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if e, ok := doc["error"].(map[string]any); ok {
					e["code"] = []string{"not_found", "internal"}[n%2]
					n++
				}
				return status
			}
		}},
		{"no code", "WG-05", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if _, ok := doc["error"]; ok {
					doc["error"] = "it failed"
				}
				return status
			}
		}},
		{"a renamed field", "WG-06", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if v, has := doc["executionId"]; has && is(r, "/solve") {
					doc["result_text"] = doc["result"]
					delete(doc, "result")
					_ = v
				}
				return status
			}
		}},
		{"an artifact with another identity", "WG-06", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if b, ok := doc["artifact"].(map[string]any); ok {
					b["summary"] = "something else"
				}
				return status
			}
		}},
		{"another execution for the same key", "WG-06", func(f *fake) {
			n := 0
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if is(r, "/solve") && status == 200 {
					if n++; n == 2 {
						doc["executionId"] = "run_other"
					}
				}
				return status
			}
		}},
		{"a resumed stream that repeats", "WG-06", func(f *fake) {
			f.edit = nil
			f.event = func(e map[string]any) {
				if e["type"] == "run.completed" {
					e["id"] = "x" + strings.Repeat("y", f.count)
					f.count++
				}
			}
		}},
		{"unknown members refused", "WG-07", func(f *fake) {
			f.refuse = func(req map[string]any) string {
				if _, has := req[strangeMember]; has {
					return alx.CodeInvalidRequest
				}
				return ""
			}
		}},
		{"unknown capabilities refused", "WG-07", func(f *fake) {
			f.refuse = func(req map[string]any) string {
				if p, ok := req["protocol"].(map[string]any); ok && len(p["capabilities"].([]any)) > 0 {
					return alx.CodeInvalidRequest
				}
				return ""
			}
		}},
		{"unknown capabilities echoed", "WG-07", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if is(r, "/solve") && status == 200 {
					p := doc["protocol"].(map[string]any)
					p["capabilities"] = append(p["capabilities"].([]any), strangeCapability)
				}
				return status
			}
		}},
		{"failures that say ok", "WG-08", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if _, has := doc["error"]; has {
					doc["ok"] = true
				}
				return status
			}
		}},
		{"failures dressed as successes", "WG-08", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if _, has := doc["error"]; has {
					delete(doc, "error")
					doc["ok"] = true
					return 200
				}
				return status
			}
		}},
		{"run.failed with ok true", "WG-09", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["type"] == "run.failed" {
					e["ok"] = true
				}
			}
		}},
		{"run.failed without ok", "WG-09", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["type"] == "run.failed" {
					delete(e, "ok")
				}
			}
		}},
		{"run.completed with ok false", "WG-10", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["type"] == "run.completed" {
					e["ok"] = false
				}
			}
		}},
		{"run.completed with ok as text", "WG-10", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["type"] == "run.completed" {
					e["ok"] = "true"
				}
			}
		}},
		{"a header of another version", "WG-02", func(f *fake) {
			f.head = func(_ *http.Request, h http.Header) { h.Set(alx.HeaderProtocolVersion, "1.0") }
		}},
		{"a header of another correlation", "WG-02", func(f *fake) {
			f.head = func(_ *http.Request, h http.Header) { h.Set(alx.HeaderCorrelationID, "another") }
		}},
		{"a stream of another correlation", "WG-02", func(f *fake) {
			f.head = func(_ *http.Request, h http.Header) {
				if h.Get("Content-Type") == alx.MediaEventStream {
					h.Set(alx.HeaderCorrelationID, "another")
				}
			}
		}},
		{"a stream without correlation", "WG-02", func(f *fake) {
			f.event = func(e map[string]any) { delete(e, "correlationId") }
		}},
		{"events of a blank correlation", "WG-02", func(f *fake) {
			f.event = func(e map[string]any) { e["correlationId"] = "" }
		}},
		{"a capability twice", "WG-02", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				p := doc["protocol"].(map[string]any)
				p["capabilities"] = append(p["capabilities"].([]any), p["capabilities"].([]any)[0])
				return status
			}
		}},
		{"another major version", "WG-02", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				doc["protocol"].(map[string]any)["protocol_version"] = "2.0"
				return status
			}
		}},
		{"a version that is a number", "WG-02", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				doc["protocol"].(map[string]any)["protocol_version"] = 1.1
				return status
			}
		}},
		{"a timeline that counts down", "WG-03", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["timeline"].([]any); ok {
					list[2].(map[string]any)["sequence"] = 1
				}
				return status
			}
		}},
		{"a timeline whose ids repeat", "WG-03", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["timeline"].([]any); ok {
					list[1].(map[string]any)["id"] = "1"
				}
				return status
			}
		}},
		{"a timeline that goes on after its end", "WG-03", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["timeline"].([]any); ok {
					list[1].(map[string]any)["type"] = "session.completed"
				}
				return status
			}
		}},
		{"a published timeline name of its own", "WG-03", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if v, ok := doc["vocabularies"].(map[string]any); ok {
					v["sessionTimelineEventTypes"] = append(v["sessionTimelineEventTypes"].([]any), "session.coffee")
				}
				return status
			}
		}},
		{"a published run event name of its own", "WG-04", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if v, ok := doc["vocabularies"].(map[string]any); ok {
					v["runEventTypes"] = append(v["runEventTypes"].([]any), "run.coffee")
				}
				return status
			}
		}},
		{"events that count down", "WG-04", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["id"] == "3" {
					e["sequence"] = 1
				}
			}
		}},
		{"events whose numbers repeat", "WG-04", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["id"] == "3" {
					e["sequence"] = 2
				}
			}
		}},
		{"events whose numbers are text", "WG-04", func(f *fake) {
			f.event = func(e map[string]any) { e["sequence"] = fmt.Sprint(e["sequence"]) }
		}},
		{"events of another run", "WG-04", func(f *fake) {
			f.event = func(e map[string]any) { e["runId"] = "run_of_another" }
		}},
		{"a page of another run", "WG-04", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if _, ok := doc["runId"]; ok {
					doc["runId"] = "run_of_another"
				}
				return status
			}
		}},
		{"an event that comes after the end", "WG-04", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["id"] == "2" && e["runId"] != "run_old" {
					e["type"], e["ok"] = "run.completed", true
				}
			}
		}},
		{"an event that changes its type", "WG-04", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["events"].([]any); ok && is(r, "/run_1/") {
					list[1].(map[string]any)["type"] = "turn.rejected"
				}
				return status
			}
		}},
		{"an event that changes its number", "WG-04", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["events"].([]any); ok && is(r, "/run_1/") {
					list[3].(map[string]any)["sequence"] = 9
				}
				return status
			}
		}},
		{"a message that says nothing", "WG-05", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if e, ok := doc["error"].(map[string]any); ok {
					e["message"] = " "
				}
				return status
			}
		}},
		{"an alias that says another code", "WG-05", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if _, ok := doc["error"]; ok {
					doc["code"] = "other"
				}
				return status
			}
		}},
		{"an intent that is another in the list", "WG-06",
			func(f *fake) { f.edit = inList("intent", "something else") }},
		{"an execution that is another in the list", "WG-06",
			func(f *fake) { f.edit = inList("executionId", "run_x") }},
		{"a status that is another in the list", "WG-06", func(f *fake) { f.edit = inList("status", "active") }},
		{"an owner that is another in the list", "WG-06", func(f *fake) { f.edit = inList("userId", "mallory") }},
		{"a list that leaves the session out", "WG-06", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["sessions"].([]any); ok {
					doc["sessions"] = slices.DeleteFunc(list,
						func(o any) bool { return o.(map[string]any)["executionId"] == "run_1" })
				}
				return status
			}
		}},
		{"a list that has a session twice", "WG-06", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["sessions"].([]any); ok {
					doc["sessions"] = append(list, list[0])
				}
				return status
			}
		}},
		{"a session of another execution", "WG-06", func(f *fake) {
			f.edit = func(r *http.Request, status int, doc map[string]any) int {
				if is(r, "/sessions/ses_1") && status == 200 {
					doc["executionId"] = "run_other"
				}
				return status
			}
		}},
		{"a completed session of a failed run", "WG-06", func(f *fake) {
			f.event = func(e map[string]any) {
				if e["type"] == "run.completed" {
					e["type"], e["ok"] = "run.failed", false
				}
			}
		}},
		{"steps out of order", "WG-06", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if list, ok := doc["steps"].([]any); ok {
					doc["steps"] = append(list, list[0])
				}
				return status
			}
		}},
		{"success beside ok false", "WG-08", func(f *fake) {
			f.edit = func(_ *http.Request, status int, doc map[string]any) int {
				if _, ok := doc["error"]; ok {
					doc["success"] = true
				}
				return status
			}
		}},
	} {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			c.breakIt(f)
			r := check(t, f.serve(t))
			want := c.rule + ":" + Fail
			if strings.HasPrefix(c.name, "failures dressed") {
				want = "WG-05:unproven " + want // there is no code to be seen
			}
			if got := reds(r); got != want {
				explain(t, r)
				t.Fatalf("red: %s", got)
			}
			for _, x := range r.Rules {
				for _, o := range x.Failures() {
					if o.Why == "" || o.Sent == "" || o.Received == "" {
						t.Errorf("a red observation does not explain itself: %+v", o)
					}
				}
			}
		})
	}
}

// inList changes a member of the sessions in the list only.
func inList(member string, value any) func(*http.Request, int, map[string]any) int {
	return func(_ *http.Request, status int, doc map[string]any) int {
		list, _ := doc["sessions"].([]any)
		for _, o := range list {
			o.(map[string]any)[member] = value
		}
		return status
	}
}

// TestForeignWordsMakeNoDifference: another implementation has its own codes, sentences, ids and
// extra members.
func TestForeignWordsMakeNoDifference(t *testing.T) {
	f := newFake()
	f.edit = func(r *http.Request, status int, doc map[string]any) int {
		doc["xVendor"] = map[string]any{"deep": []any{1, nil}}
		if e, ok := doc["error"].(map[string]any); ok {
			e["code"], e["message"] = "E."+strings.ToUpper(e["code"].(string)), "ça ne va pas"
			doc["code"] = e["code"]
		}
		delete(doc, "errorCodes")
		delete(doc, "vocabularies")
		delete(doc, "nextCursor")
		return status
	}
	r := check(t, f.serve(t))
	if got := reds(r); got != "" {
		explain(t, r)
		t.Fatal(got)
	}
}

// TestWhatWasNotSeenIsNotProven: an endpoint that refuses every solve passes no rule that was not
// tested.
func TestWhatWasNotSeenIsNotProven(t *testing.T) {
	f := newFake()
	delete(f.runs, "run_old")
	f.refuse = func(map[string]any) string { return alx.CodeProjectNotReady }
	r := check(t, f.serve(t))
	want := "WG-03:unproven WG-04:unproven WG-06:unproven WG-07:unproven WG-09:unproven WG-10:unproven"
	if got := reds(r); got != want || r.Passed() {
		explain(t, r)
		t.Fatalf("%s", got)
	}
	if got := r.Object().String("verdict"); got != Unproven {
		t.Errorf("verdict %s", got)
	}
}

func TestHostileEndpointsEndInTime(t *testing.T) {
	testrepo.Thorough(t)
	endless := func(w http.ResponseWriter, r *http.Request, line string) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(line)); err != nil {
				return
			}
		}
	}
	elsewhere := newFake()
	trap := httptest.NewServer(elsewhere)
	defer trap.Close()
	for name, h := range map[string]http.HandlerFunc{
		"silent":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"endless": func(w http.ResponseWriter, r *http.Request) { endless(w, r, strings.Repeat("x", 1<<16)) },
		"deep":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("[", 1<<20))) },
		"text":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello</html>")) },
		"list":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[{"ok":true}]`)) },
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, trap.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"breaks off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"ok":`))
		},
		"endless events": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") == alx.MediaEventStream {
				w.Header().Set("Content-Type", alx.MediaEventStream)
				endless(w, r, ": nothing\n\ndata: {\"type\":\"run.started\"}\nid: 1\n\n")
				return
			}
			newFake().ServeHTTP(w, r)
		},
		"endless pages": func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				_, _ = w.Write([]byte(
					`{"ok":true,"events":[{"type":"run.started","id":"1"},{"type":"run.started","id":"1"}],"nextCursor":"1"}`))
				return
			}
			newFake().ServeHTTP(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(h)
			defer s.Close()
			r, err := Check(context.Background(), Options{
				URL:     s.URL,
				Token:   "secret",
				Request: 300 * time.Millisecond,
				Wait:    500 * time.Millisecond,
			})
			var failure *alx.Error
			switch {
			case name == "silent":
				if !errors.As(err, &failure) || failure.Code != alx.CodeUnavailable {
					t.Fatalf("%v", err)
				}
			case err != nil:
				t.Fatal(err)
			case r.Passed():
				t.Error("it passes")
			}
		})
	}
	t.Cleanup(func() {
		if elsewhere.solves > 0 || elsewhere.count > 0 {
			t.Error("a redirect was followed")
		}
	})
}

func TestBase(t *testing.T) {
	for in, want := range map[string]string{
		"http://h:1":          "http://h:1",
		"http://h:1/":         "http://h:1",
		"http://h/alx/v1":     "http://h",
		"https://h/p/alx/v1/": "https://h/p",
		"h:1":                 "",
		"ftp://h":             "",
		"":                    "",
		"http://":             "",
		"http://u:p@h":        "",
		"http://h?x=1":        "",
		"http://h#x":          "",
		"http://[":            "",
	} {
		u, err := Base(in)
		if (err != nil) != (want == "") || err == nil && u.String() != want {
			t.Errorf("Base(%q) = %v, %v; want %q", in, u, err, want)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	_, err := Check(context.Background(), Options{URL: s.URL})
	var failure *alx.Error
	if !errors.As(err, &failure) || failure.Code != alx.CodeUnavailable ||
		strings.Contains(failure.Message, "dial tcp") && !strings.Contains(failure.Message, "refused") {
		t.Fatalf("%v", err)
	}
}
