// The client with services that behave, and with those that do not.

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/sse"
)

func serve(t *testing.T, h http.HandlerFunc, opt Options) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	if opt.Pause == 0 {
		opt.Pause = time.Millisecond
	}
	c, err := New(s.URL+"/alx/v1/", opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", alx.MediaJSON)
	w.WriteHeader(status)
	_, _ = w.Write(alx.Encode(doc))
}

func event(n int64, last int64) *alx.RunEvent {
	e := &alx.RunEvent{
		Type:          alx.TurnAccepted,
		ID:            "e" + strconv.FormatInt(n, 10),
		Sequence:      n,
		RunID:         "run_1",
		CorrelationID: "c",
		Data:          &ojson.Object{},
	}
	if n == last {
		e.Type = alx.RunCompleted
	}
	return e.SetOK()
}

func wire(e *alx.RunEvent) []byte {
	return sse.Append(nil, sse.Event{ID: e.ID, Type: string(e.Type), Data: string(alx.Encode(e))})
}

func TestRequestsAndAnswers(t *testing.T) {
	var got struct {
		auth, prefer, sid, path string
		body                    map[string]any
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got.auth, got.prefer, got.sid, got.path = r.Header.Get("Authorization"), r.Header.Get("Prefer"),
			r.Header.Get(alx.HeaderCorrelationID), r.URL.EscapedPath()
		data, _ := io.ReadAll(r.Body)
		got.body = nil
		_ = json.Unmarshal(data, &got.body)
		head := alx.NewEnvelope(true, "c-1")
		switch {
		case r.URL.Path == alx.PathSolve:
			write(w, 202, &alx.SolveResponse{
				Envelope:    head,
				ExecutionID: "run_1",
				Execution:   alx.Execution{Status: alx.StatusActive},
			})
		case r.URL.Path == alx.PathService:
			write(w, 200, alx.NewServiceInfo("c-1", alx.Service{Name: "n", Version: "1"}))
		default:
			write(w, 200,
				&alx.SessionResponse{Envelope: head, Session: alx.Session{SessionID: "s/1", Status: alx.StatusActive}})
		}
	}, Options{Token: "hush", Strict: true})
	ctx := context.Background()
	r, err := c.SolveAsync(ctx, &alx.SolveRequest{Intent: "do it", CorrelationID: "mine"})
	if err != nil || r.ExecutionID != "run_1" {
		t.Fatalf("%+v %v", r, err)
	}
	if got.auth != "Bearer hush" || got.prefer != alx.PreferAsync || got.sid != "mine" ||
		got.body["intent"] != "do it" || got.body["protocol"] == nil {
		t.Errorf("sent %+v", got)
	}
	if _, err := c.Solve(ctx, &alx.SolveRequest{Intent: "x"}); err != nil || got.prefer != "" {
		t.Errorf("%v %q", err, got.prefer)
	}
	if s, err := c.Session(ctx, "s/1"); err != nil || s.SessionID != "s/1" || got.path != "/alx/v1/sessions/s%2F1" {
		t.Errorf("%v %s", err, got.path)
	}
	if i, err := c.Info(ctx); err != nil || i.Service.Name != "n" {
		t.Errorf("%v", err)
	}
}

func TestFailures(t *testing.T) {
	answer := func(status int, body string) *Client {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(alx.HeaderCorrelationID, "c-9")
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}, Options{})
	}
	ctx := context.Background()
	refusal := string(alx.Encode(alx.NewFailure("c-9", alx.Errorf(alx.CodeSessionNotFound, "none"))))
	_, err := answer(404, refusal).Session(ctx, "x")
	var f *Failure
	var why *alx.Error
	if !errors.As(err, &f) || !errors.As(err, &why) || f.Status != 404 || f.CorrelationID != "c-9" ||
		f.RetryAfter != 7*time.Second || why.Code != alx.CodeSessionNotFound {
		t.Fatalf("%v", err)
	}
	failed := string(alx.Encode(&alx.SolveResponse{
		Envelope:    alx.NewEnvelope(false, "c-9"),
		ExecutionID: "run_1",
		Execution:   alx.Execution{Status: alx.StatusFailed},
		Error:       alx.Errorf(alx.CodeRunFailed, "it failed"),
	}))
	for _, status := range []int{422, 200} {
		r, err := answer(status, failed).Solve(ctx, &alx.SolveRequest{Intent: "x"})
		if !errors.As(err, &why) || why.Code != alx.CodeRunFailed || r == nil || r.ExecutionID != "run_1" {
			t.Fatalf("%d %v %+v", status, err, r)
		}
	}
	for name, body := range map[string]string{
		"text":            "<html>",
		"a contradiction": strings.Replace(refusal, `"ok":false`, `"ok":true`, 1),
		"nothing":         "",
		"half":            refusal[:20],
	} {
		var bad *MalformedError
		if _, err := answer(500, body).Session(ctx, "x"); !errors.As(err, &bad) || bad.Status != 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var bad *MalformedError
	if _, err := answer(302, "").Session(ctx, "x"); !errors.As(err, &bad) || bad.Status != 302 {
		t.Errorf("a redirect: %v", err)
	}
}

func TestSessionsGoesThroughThePages(t *testing.T) {
	const all = 7
	endless := false
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		list := &alx.SessionList{Envelope: alx.NewEnvelope(true, "c")}
		for i := from; i < min(from+3, all); i++ {
			list.Sessions = append(list.Sessions, alx.SessionItem{Session: alx.Session{
				SessionID: fmt.Sprint(i),
				Status:    alx.SessionStatus(r.URL.Query().Get("status")),
			}})
		}
		if from+3 < all || endless {
			list.NextCursor = fmt.Sprint((from + 3) % 9)
		}
		write(w, 200, list)
	}, Options{})
	n := 0
	for s, err := range c.Sessions(context.Background(), Filter{Status: alx.StatusPaused}) {
		if err != nil || s.SessionID != fmt.Sprint(n) || s.Status != alx.StatusPaused {
			t.Fatalf("%d: %+v %v", n, s, err)
		}
		n++
	}
	if n != all {
		t.Errorf("%d sessions", n)
	}
	endless, n = true, 0
	var last error
	for _, err := range c.Sessions(context.Background(), Filter{Status: alx.StatusActive}) {
		last = err
		n++
	}
	var bad *MalformedError
	if !errors.As(last, &bad) || n > 2*all {
		t.Errorf("an endless list: %v after %d", last, n)
	}
}

// TestEventsSurviveEverything: the service drops the connection after each event, repeats, sends
// heartbeats, refuses for a while, falls silent.
func TestEventsSurviveEverything(t *testing.T) {
	const all = 12
	var tries atomic.Int64
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := tries.Add(1)
		after, _ := strconv.ParseInt(strings.TrimPrefix(r.Header.Get(alx.HeaderLastEventID), "e"), 10, 64)
		switch n % 7 {
		case 2:
			write(w, 503, alx.NewFailure("c", alx.Errorf(alx.CodeShuttingDown, "a moment")))
			return
		case 3:
			w.WriteHeader(502)
			_, _ = io.WriteString(w, "<html>bad gateway</html>")
			return
		}
		w.Header().Set("Content-Type", alx.MediaEventStream+"; charset=utf-8")
		_, _ = io.WriteString(w, ": hello\n\n")
		if n%7 == 4 && after > 1 {
			_, _ = w.Write(wire(event(after-1, all))) // a repetition
			_, _ = w.Write(wire(event(after, all)))
		}
		if n%7 == 5 {
			_, _ = w.Write(wire(event(after+2, all))) // a gap
			return
		}
		_, _ = w.Write(wire(event(after+1, all)))
		_, _ = w.Write(wire(event(after+2, all))[:20]) // cut short
		_ = http.NewResponseController(w).Flush()
		if n%7 == 6 {
			<-r.Context().Done() // silence
		}
	}, Options{Idle: 100 * time.Millisecond})
	var got []int64
	for e, err := range c.Events(context.Background(), "run_1", "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Sequence)
	}
	for i, n := range got {
		if n != int64(i+1) {
			t.Fatalf("%v", got)
		}
	}
	if len(got) != all {
		t.Fatalf("%v", got)
	}
}

func TestEventsEndWithAnError(t *testing.T) {
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"not found": {func(w http.ResponseWriter, _ *http.Request) {
			write(w, 404, alx.NewFailure("c", alx.Errorf(alx.CodeRunNotFound, "none")))
		}, "run_not_found"},
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "{}")
		}, "no event stream"},
		"always closed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", alx.MediaEventStream)
		}, "ended before the run"},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", alx.MediaEventStream)
			_, _ = io.WriteString(w, "data: hello\n\n")
		}, "not of the protocol"},
		"too large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", alx.MediaEventStream)
			_, _ = io.WriteString(w, "data: "+strings.Repeat("x", alx.MaxRunEventBytes+1))
		}, "larger event"},
		"always a gap": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", alx.MediaEventStream)
			if r.Header.Get(alx.HeaderLastEventID) == "" {
				_, _ = w.Write(wire(event(1, 9)))
			}
			_, _ = w.Write(wire(event(3, 9)))
		}, "left events out"},
		"a lie": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", alx.MediaEventStream)
			e := event(1, 1)
			no := false
			e.OK = &no
			_, _ = w.Write(wire(e))
		}, "must be true in run.completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var last error
			for _, err := range serve(t, c.h, Options{Retries: 3}).Events(context.Background(), "run_1", "") {
				last = err
			}
			if last == nil || !strings.Contains(last.Error(), c.want) {
				t.Errorf("%v", last)
			}
		})
	}
	gone := serve(t, func(http.ResponseWriter, *http.Request) {}, Options{Retries: -1})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range gone.Events(ctx, "run_1", "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

func TestUnknownEventsAreToleratedUnlessStrict(t *testing.T) {
	h := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", alx.MediaEventStream)
		e := event(1, 0)
		e.Type = "run.levitated"
		_, _ = w.Write(append(wire(e), wire(event(2, 2))...))
	}
	for _, strict := range []bool{false, true} {
		n := 0
		var last error
		for e, err := range serve(t, h, Options{Strict: strict}).Events(context.Background(), "run_1", "") {
			if last = err; err == nil {
				n++
				_ = e
			}
		}
		if strict != (last != nil) || !strict && n != 2 {
			t.Errorf("strict %v: %d events, %v", strict, n, last)
		}
	}
}

func TestNewRefusesWhatIsNoURL(t *testing.T) {
	for _, s := range []string{"", "h:1", "ftp://h", "http://", "http://u:p@h", "http://h?x", "http://h#f",
		"http://["} {
		if _, err := New(s, Options{}); err == nil {
			t.Errorf("%q", s)
		}
	}
}
