package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Many sessions at once, each followed by a client that keeps disconnecting: every event of every
// run arrives once and in order. Meanwhile sessions are inspected, beside a handler that does
// nothing, and the times of both are logged.
func TestManySessions(t *testing.T) {
	testrepo.Serving(t)
	sessions := 10
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		sessions = 200
	}
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	v := start(t, repo.Dir, nil)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(bytes.Repeat([]byte{' '}, 1500))
	}))
	defer bare.Close()
	var wg sync.WaitGroup
	ids := make([]atomic.Value, sessions) // strings, of those that have begun
	for i := range sessions {
		wg.Go(func() {
			a := ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", fmt.Sprintf("number %d", i)), "Prefer",
				"respond-async")
			got, err := alx.Decoder{Strict: true}.SolveResponse(a.raw)
			if err != nil || a.status != 202 {
				t.Errorf("%d %v %s", a.status, err, a.raw)
				return
			}
			ids[i].Store(got.Execution.SessionID)
			var events []alx.RunEvent
			last, ended := "", false
			for tries := 0; !ended && tries < 10_000; tries++ {
				var part []alx.RunEvent
				n := 0
				part, ended = follow(t, v.url, got.ExecutionID, last, func(*alx.RunEvent) bool {
					n++
					return n == 1+tries%2
				})
				if events = append(events, part...); len(events) > 0 {
					last = events[len(events)-1].ID
				}
			}
			inOrder(t, got.ExecutionID, events)
		})
	}
	done := make(chan struct{})
	var ours, theirs []time.Duration
	var inspecting sync.WaitGroup
	inspecting.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			id, _ := ids[i%sessions].Load().(string)
			theirs = append(theirs, timed(t, bare.URL))
			if id == "" {
				continue
			}
			ours = append(ours, timed(t, v.url+alx.SessionPath(id)))
			time.Sleep(time.Millisecond)
		}
	})
	wg.Wait()
	close(done)
	inspecting.Wait()
	t.Logf("%d sessions; session inspection p50 %v p99 %v (%d), a bare handler p50 %v p99 %v (%d)", sessions,
		quantile(ours, .5), quantile(ours, .99), len(ours), quantile(theirs, .5), quantile(theirs, .99), len(theirs))
	list := ask(t, "GET", v.url+alx.PathSessions+"?limit=200&status=completed", "")
	if n := len(list.body.Array("sessions")); n != sessions && list.body.String("nextCursor") == "" {
		t.Errorf("%d sessions are complete", n)
	}
}

func timed(t *testing.T, url string) time.Duration {
	began := time.Now()
	if a := ask(t, "GET", url, "", "Accept", "*/*"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.raw)
	}
	return time.Since(began)
}

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(float64(len(d))*q))].Round(10 * time.Microsecond)
}

// A thousand copies of one request at once are one execution; another request with the same key is
// refused, and another user's key is another key.
func TestIdempotency(t *testing.T) {
	testrepo.Serving(t)
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	v := start(t, repo.Dir, nil)
	const same = 1000
	var made atomic.Int32
	runs := make([]string, same)
	var wg sync.WaitGroup
	gate := make(chan struct{}, 100)
	for i := range same {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			body := `{"intent":"once","idempotencyKey":"k","constraints":{"a":1,"b":[1.0,2]}}`
			if i%2 == 1 {
				body = fmt.Sprintf(`{ "constraints": {"b": [1, 2e0], "a": 1.0}, "correlationId": "c-%d", "protocol": {"protocol_version": "1.0"}, "idempotencyKey": "k", "intent": "o\u006ece" }`,
					i)
			}
			a := ask(t, "POST", v.url+alx.PathSolve, body, "Prefer", "respond-async")
			if a.status != 202 && a.status != 200 {
				t.Errorf("%d %s", a.status, a.raw)
			}
			if !a.body.Bool("cached") {
				made.Add(1)
			}
			runs[i] = a.body.String("executionId")
		})
	}
	wg.Wait()
	slices.Sort(runs)
	if runs = slices.Compact(runs); len(runs) != 1 || made.Load() != 1 {
		t.Fatalf("%d executions, %d of them new", len(runs), made.Load())
	}
	if a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"twice","idempotencyKey":"k"}`); a.status != 409 ||
		a.code() != alx.CodeIdempotencyConflict || a.body.Bool("ok") {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"twice"}`, "Idempotency-Key", "k"); a.status != 409 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"twice","idempotencyKey":"other"}`, "Idempotency-Key",
		"k"); a.status != 400 || a.code() != alx.CodeInvalidRequest {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := ask(t, "POST", v.url+alx.PathSolve,
		`{"intent":"once","idempotencyKey":"k","userId":"bob"}`); a.status != 200 ||
		a.body.Bool("cached") || a.body.String("executionId") == runs[0] {
		t.Errorf("%d %s", a.status, a.raw)
	}
	// The record outlives the server.
	v.stop()
	v = start(t, repo.Dir, nil)
	if a := ask(t, "POST", v.url+alx.PathSolve,
		`{"intent":"once","idempotencyKey":"k","constraints":{"b":[1,2],"a":1}}`); a.status != 200 ||
		!a.body.Bool("cached") || a.body.String("executionId") != runs[0] {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
