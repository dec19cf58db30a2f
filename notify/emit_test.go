package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)

// hook is a webhook server that answers as told and keeps what it received.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	heads  []http.Header
}

func newHook(t *testing.T, answer http.HandlerFunc) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		h.bodies, h.heads = append(h.bodies, string(body)), append(h.heads, r.Header)
		h.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func status(codes ...int) http.HandlerFunc {
	i := 0
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(codes[min(i, len(codes)-1)])
		i++
	}
}

func webhook(name, url string, events ...string) Webhook {
	return Webhook{Name: name, URL: url, Events: events, Timeout: 5 * time.Second}
}

// sender returns a sender that does not wait and notes how long it would have waited.
func sender(waits *[]time.Duration, hooks ...Webhook) *Sender {
	return &Sender{
		Config:  Config{Webhooks: hooks},
		Project: Project{ID: "p1", Name: "P", Root: "/p"},
		Now:     func() time.Time { return now },
		ID:      func() string { return "notif_1" },
		Wait: func(ctx context.Context, d time.Duration) error {
			if waits != nil {
				*waits = append(*waits, d)
			}
			return ctx.Err()
		},
	}
}

func emit(t *testing.T, s *Sender, e Event) Emission {
	t.Helper()
	out, err := s.Emit(t.Context(), e, Run{ID: "run_1", Status: "blocked", Phase: "qa"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// row returns an audit row as JSON without its duration.
func row(r Result) string {
	o := r.Row.Clone()
	o.Set("duration_ms", 0)
	return string(ojson.Compact(o))
}

func TestEmitSendsOneEnvelopeToEverySubscriber(t *testing.T) {
	a, b, c := newHook(t, ok), newHook(t, ok), newHook(t, ok)
	s := sender(nil, webhook("a", a.URL, RunBlocked, RunCompleted), webhook("b", b.URL, RunCompleted),
		webhook("c", c.URL, RunBlocked))
	out := emit(t, s, Event{
		Type:    RunBlocked,
		Payload: ojson.NewObject("category", "x"),
		Turn:    &run.Turn{TurnID: "turn_1", AssignedRole: "dev", Attempt: 2},
	})
	want := `{"schema_version":"0.1","event_id":"notif_1","event_type":"run_blocked","emitted_at":"2026-03-04T05:06:07.008Z",` +
		`"project":{"id":"p1","name":"P","root":"/p"},"run":{"run_id":"run_1","status":"blocked","phase":"qa"},` +
		`"turn":{"turn_id":"turn_1","role_id":"dev","attempt":2,"assigned_sequence":null},"payload":{"category":"x"}}`
	if d := cmp.Diff([]string{want}, a.bodies); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(a.bodies, c.bodies); d != "" || len(b.bodies) != 0 {
		t.Errorf("other bodies: %s, %q", d, b.bodies)
	}
	if len(out.Results) != 2 || out.EventID != "notif_1" {
		t.Fatalf("%+v", out)
	}
	const audit = `{"event_id":"notif_1","event_type":"run_blocked","notification_name":"a","transport":"webhook","delivered":true,"status_code":200,` +
		`"timed_out":false,"duration_ms":0,"message":"Delivered","emitted_at":"2026-03-04T05:06:07.008Z","attempts":1}`
	if got := row(out.Results[0]); got != audit {
		t.Errorf("row %s", got)
	}
	if !out.Results[0].Delivered || out.Results[1].Webhook != "c" {
		t.Errorf("%+v", out.Results)
	}
}

func TestEmitNullsWhatIsUnknown(t *testing.T) {
	a := newHook(t, ok)
	s := sender(nil, webhook("a", a.URL, RunCompleted))
	s.Project = Project{Root: "/r"}
	if _, err := s.Emit(t.Context(), Event{Type: RunCompleted}, Run{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Project, Run map[string]any
		Turn         any
		Payload      map[string]any
	}
	if err := json.Unmarshal([]byte(a.bodies[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Project["id"] != "unknown" || got.Project["name"] != "Unknown" || got.Run["run_id"] != nil ||
		got.Turn != nil || got.Payload == nil {
		t.Errorf("%s", a.bodies[0])
	}
}

// TestSecretsStay sends what an actor said, without the key in it.
func TestSecretsStay(t *testing.T) {
	h := newHook(t, ok)
	key := "ghp_T9s8R7q6P5o4" + "N3m2L1k0J9i8H7g6F5e4D3c2"
	payload := ojson.NewObject("detail", "refused with "+key, "list", []string{"x " + key},
		"rows", []ojson.Value{ojson.NewObject("reason", key)}, "count", 3, "none", nil)
	emit(t, sender(nil, webhook("w", h.URL, "run_blocked")), Event{Type: "run_blocked", Payload: payload})
	if len(h.bodies) != 1 {
		t.Fatalf("%d bodies were sent, 1 expected", len(h.bodies))
	}
	body := h.bodies[0]
	if strings.Contains(body, key) || strings.Count(body, "[REDACTED github-token]") != 3 ||
		!json.Valid([]byte(body)) || !strings.Contains(body, `"count":3,"none":null`) {
		t.Errorf("sent %s", body)
	}
	if payload.String("detail") != "refused with "+key {
		t.Error("the event itself was changed")
	}
}

func TestEmitUnknownEvent(t *testing.T) {
	s := sender(nil)
	if out, err := s.Emit(t.Context(), Event{Type: "no_such"}, Run{}); err != nil || out.EventID != "" ||
		len(out.Results) != 0 {
		t.Errorf("without webhooks: %+v %v", out, err)
	}
	s = sender(nil, webhook("a", "http://127.0.0.1:1", RunBlocked))
	if _, err := s.Emit(t.Context(), Event{Type: "no_such"}, Run{}); err == nil ||
		err.Error() != `Unknown notification event "no_such"` {
		t.Errorf("%v", err)
	}
}

func TestRetries(t *testing.T) {
	for _, tc := range []struct {
		name     string
		answer   http.HandlerFunc
		ok       bool
		message  string
		attempts int
		waits    []time.Duration
	}{
		{"at once", ok, true, "Delivered", 1, nil},
		{"the third time", status(503, 429,
			204), true, "Delivered", 3, []time.Duration{500 * time.Millisecond, 2 * time.Second}},
		{"never", status(500), false, "Webhook returned HTTP 500", 3,
			[]time.Duration{500 * time.Millisecond, 2 * time.Second}},
		{"refused", status(403), false, "Webhook returned HTTP 403", 1, nil},
		{"redirected", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/x", http.StatusFound)
		}, false, "Webhook returned HTTP 302", 1, nil},
		{"asked to wait", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(503)
		}, false, "Webhook returned HTTP 503", 3, []time.Duration{3 * time.Second, 3 * time.Second}},
		{"asked to wait for long", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}, false, "Webhook returned HTTP 429", 1, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHook(t, tc.answer)
			var waits []time.Duration
			out := emit(t, sender(&waits, webhook("a", h.URL, RunBlocked)), Event{Type: RunBlocked})
			r := out.Results[0].Row
			if n, _ := r.Int("attempts"); n != tc.attempts || len(h.bodies) != n ||
				r.String("message") != tc.message || out.Results[0].Delivered != tc.ok ||
				r.Bool("delivered") != tc.ok {
				t.Errorf("%d requests, row %s", len(h.bodies), row(out.Results[0]))
			}
			if d := cmp.Diff(tc.waits, waits); d != "" {
				t.Error(d)
			}
			if len(out.Results) != 1 {
				t.Errorf("%d rows", len(out.Results))
			}
			for _, b := range h.bodies[1:] {
				if b != h.bodies[0] {
					t.Error("a retry differs from the first try")
				}
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/services/T0123456789ABCDEFG?token=s3cretToken"
	_ = l.Close()
	w := webhook("a", url, RunBlocked)
	w.Headers, w.Env = ojson.NewObject("Authorization", "Bearer ${T}"), ojson.NewObject("T", "hunter2hunter2")
	out := emit(t, sender(new([]time.Duration), w, webhook("b", newHook(t, ok).URL, RunBlocked)),
		Event{Type: RunBlocked})
	r := out.Results[0].Row
	if n, _ := r.Int("attempts"); n != 3 || r.Bool("delivered") || r.Bool("timed_out") ||
		!strings.Contains(r.String("message"), "refused") {
		t.Errorf("%s", row(out.Results[0]))
	}
	if code, _ := r.Get("status_code"); code != nil {
		t.Errorf("status_code %v", code)
	}
	for _, secret := range []string{"s3cretToken", "hunter2", "T0123456789"} {
		if strings.Contains(row(out.Results[0]), secret) {
			t.Errorf("%q in %s", secret, row(out.Results[0]))
		}
	}
	if !out.Results[1].Delivered {
		t.Error("the next webhook was not told")
	}
}

func TestTimeoutIsNotTriedAgain(t *testing.T) {
	release := make(chan struct{})
	h := newHook(t, func(w http.ResponseWriter, r *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	w := webhook("a", h.URL, RunBlocked)
	w.Timeout = 100 * time.Millisecond
	out := emit(t, sender(nil, w), Event{Type: RunBlocked})
	r := out.Results[0].Row
	if n, _ := r.Int("attempts"); n != 1 || !r.Bool("timed_out") || r.String("message") != "Timed out after 100ms" {
		t.Errorf("%s", row(out.Results[0]))
	}
}

func TestHeaders(t *testing.T) {
	h := newHook(t, ok)
	w := webhook("a", h.URL, RunBlocked)
	w.Headers = ojson.NewObject("Authorization", "Bearer ${TOKEN}", "X-Own", "${OWN}")
	w.Env = ojson.NewObject("OWN", "mine", "TOKEN2", "x")
	s := sender(nil, w)
	s.Lookup = func(name string) (string, bool) {
		return map[string]string{"TOKEN": "abc", "OWN": "theirs"}[name], name == "TOKEN" || name == "OWN"
	}
	if out := emit(t, s, Event{Type: RunBlocked}); !out.Results[0].Delivered ||
		h.heads[0].Get("Authorization") != "Bearer abc" || h.heads[0].Get("X-Own") != "mine" {
		t.Errorf("%v", h.heads)
	}
	s.Lookup = nil
	out := emit(t, s, Event{Type: RunBlocked})
	r := out.Results[0].Row
	if n, _ := r.Int("attempts"); n != 0 ||
		r.String("message") != "Unresolved HTTP hook header variables: Authorization:TOKEN" || len(h.bodies) != 1 {
		t.Errorf("%s", row(out.Results[0]))
	}
	s.Lookup = func(string) (string, bool) { return "abc\r\nX-Evil: s3cret", true }
	out = emit(t, s, Event{Type: RunBlocked})
	r = out.Results[0].Row
	if n, _ := r.Int("attempts"); n != 1 || r.Bool("delivered") || len(h.bodies) != 1 ||
		strings.Contains(row(out.Results[0]), "s3cret") {
		t.Errorf("%s", row(out.Results[0]))
	}
}

func TestExcerptIsShortAndRedacted(t *testing.T) {
	h := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		_, _ = fmt.Fprintf(w, "bad\n\x1b[31m\ttoken %s %s", r.Header.Get("Authorization"), strings.Repeat("é", 1<<16))
	})
	w := webhook("a", h.URL, RunBlocked)
	w.Headers = ojson.NewObject("Authorization", "Bearer hunter2hunter2")
	out := emit(t, sender(nil, w), Event{Type: RunBlocked})
	got := out.Results[0].Row.String("stderr_excerpt")
	if !strings.HasPrefix(got, "bad ^[[31m token *** é") || len(got) > maxExcerpt {
		t.Errorf("%q", got)
	}
	keys := out.Results[0].Row.Keys()
	if strings.Join(keys[len(keys)-2:], " ") != "stderr_excerpt attempts" {
		t.Errorf("%v", keys)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	s := sender(nil, webhook("a", h.URL, RunBlocked), webhook("b", h.URL, RunBlocked),
		webhook("c", h.URL, RunCompleted))
	out, err := s.Emit(ctx, Event{Type: RunBlocked}, Run{})
	if err != nil || len(out.Results) != 2 || len(h.bodies) != 1 {
		t.Fatalf("%+v %v", out, err)
	}
	for i, want := range []string{"Interrupted before the webhook answered", "Not sent: the command was interrupted"} {
		if r := out.Results[i].Row; r.String("message") != want || out.Results[i].Delivered {
			t.Errorf("%s", row(out.Results[i]))
		}
	}
}

func TestTimeUsedUp(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	out, err := sender(nil, webhook("a", "http://127.0.0.1:1", RunBlocked)).Emit(ctx, Event{Type: RunBlocked}, Run{})
	if err != nil || len(out.Results) != 1 ||
		out.Results[0].Row.String("message") != "Not sent: the time for notifications was used up" {
		t.Fatalf("%+v %v", out, err)
	}
}

func TestOnly(t *testing.T) {
	a, b := newHook(t, ok), newHook(t, ok)
	out := emit(t, sender(nil, webhook("a", a.URL, RunBlocked), webhook("b", b.URL, RunBlocked)),
		Event{Type: RunBlocked, Only: []string{"b"}})
	if len(out.Results) != 1 || len(a.bodies) != 0 || len(b.bodies) != 1 {
		t.Errorf("%+v", out)
	}
}

func TestRead(t *testing.T) {
	read := func(s string) Config {
		o, err := ojson.DecodeObject([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return Read(o)
	}
	c := read(`{"webhooks":[{"name":"a","url":"http://h","events":["run_blocked","approval_sla_reminder"],"timeout_ms":250,"headers":{"X":"1"}},{"name":"","url":"x"},{"name":"b","url":"http://h"},7],
		"approval_sla":{"reminder_after_seconds":[300,"x",600]},"local":true}`)
	if len(c.Webhooks) != 1 || c.Webhooks[0].Timeout != 250*time.Millisecond || !c.Reminding() ||
		len(c.SLA.Thresholds) != 2 {
		t.Errorf("%+v", c)
	}
	for _, s := range []string{`{}`, `{"approval_sla":{"enabled":false,"reminder_after_seconds":[300]}}`,
		`{"approval_sla":{}}`, `{"approval_sla":{"enabled":"yes","reminder_after_seconds":[300]}}`} {
		if c := read(s); c.SLA != nil || c.Reminding() {
			t.Errorf("%s: %+v", s, c.SLA)
		}
	}
	if c := Read(nil); c.Subscribed(RunBlocked) || c.SLA != nil {
		t.Error(c)
	}
}

func TestMessagesAreBounded(t *testing.T) {
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
			_, _ = io.WriteString(c, strings.Repeat("\x00\xff", 20_000)+"\r\n\r\n")
			_ = c.Close()
		}
	}()
	out := emit(t, sender(nil, webhook("a", "http://"+l.Addr().String(), RunBlocked)), Event{Type: RunBlocked})
	if n := len(ojson.Compact(out.Results[0].Row)); n > 4096 || out.Results[0].Delivered {
		t.Errorf("a row of %d bytes", n)
	}
}

// TestEmitWorn: a webhook that is down costs its retries once; when it answers again it gets all of
// them again.
func TestEmitWorn(t *testing.T) {
	down := newHook(t, status(503, 503, 503, 503, 200, 503, 503, 503))
	up := newHook(t, status(503, 200))
	s := sender(nil, webhook("down", down.URL, "run_blocked"), webhook("up", up.URL, "run_blocked"))
	for i, want := range []int{3, 1, 1, 3} {
		out := emit(t, s, Event{Type: "run_blocked"})
		if n, _ := out.Results[0].Row.Int("attempts"); n != want {
			t.Errorf("event %d: %d attempts, want %d", i, n, want)
		}
		if !out.Results[1].Delivered {
			t.Errorf("event %d: %s", i, row(out.Results[1]))
		}
	}
}
