// The conversation: all requests to an endpoint, once, before any rule is judged.

package conform

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/sse"
)

// Names that no version of the protocol has: an endpoint must ignore them (WG-07).
const (
	strangeMember     = "xUnheardOfMember"
	strangeCapability = "x-unheard-of-capability"
	strangeMinor      = "1.99"
)

// survey is what an endpoint showed of itself.
type survey struct {
	*prober
	intent string
	key    string // idempotency key
	user   string

	info      *exchange
	tolerant  *exchange // solve with unknown members, capabilities and another minor
	plain     *exchange // solve without any, when the tolerant one was refused
	again     *exchange // the same solve again
	solved    *exchange // the answer that counts: tolerant, else plain
	final     *exchange // the same solve once more, after the run has ended
	executed  string    // its executionId
	sessionID string
	list      *exchange
	session   *exchange
	sessions  []*exchange // session documents that were read, the solve's first
	events    *exchange   // the first page of the solve's events
	failures  []failure
	seen      []seenEvent // every run event seen, in order
	streams   []*stream
}

// failure is a request that must be refused, sent twice.
type failure struct{ first, second *exchange }

// seenEvent is a run event with the place where it was seen.
type seenEvent struct {
	from  *exchange
	event *ojson.Object
}

// stream is one event stream that was read.
type stream struct {
	from   *exchange
	after  string // Last-Event-ID sent
	events []sse.Event
}

// explore holds the conversation. A run is started once, or twice when the endpoint refuses what it
// must tolerate; the refused requests start none.
func (s *survey) explore(ctx context.Context, wait time.Duration) {
	s.key, s.user = "conformance-"+rand.Text(), "conformance"
	s.info = s.do(ctx, ask{
		Purpose: "the service's description",
		Method:  "GET",
		Path:    alx.PathService + "?xUnheardOf=1",
	})
	if s.info.Status == 0 || s.info.Status == 401 {
		return // no answer, or none for us; a second request would not change that
	}
	s.refused(ctx)
	s.solve(ctx)
	if s.solved != nil {
		s.await(ctx, wait)
	}
	s.lookAround(ctx)
}

// refused sends requests that cannot succeed.
func (s *survey) refused(ctx context.Context) {
	json := map[string]string{"Content-Type": alx.MediaJSON}
	for _, a := range []ask{
		{
			Purpose: "a solve request that is not JSON",
			Method:  "POST",
			Path:    alx.PathSolve,
			Body:    `{"intent": `,
			Header:  json,
		},
		{Purpose: "a solve request without an intent", Method: "POST", Path: alx.PathSolve, Body: `{"intent": ""}`},
		{Purpose: "a solve request of another major version", Method: "POST", Path: alx.PathSolve,
			Body: compact(ojson.NewObject("intent", s.intent,
				"protocol", ojson.NewObject("protocol_version", "99.0", "capabilities", []string{})))},
		{
			Purpose: "a session that does not exist",
			Method:  "GET",
			Path:    alx.SessionPath("no-such-session-" + strings.ToLower(rand.Text())),
		},
		{
			Purpose: "the events of a run that does not exist",
			Method:  "GET",
			Path:    alx.RunEventsPath("run_" + strings.ToLower(rand.Text())),
		},
		{Purpose: "a path that does not exist", Method: "GET", Path: alx.PathService + "/no-such-path"},
	} {
		a.MustFail = true
		s.failures = append(s.failures, failure{s.do(ctx, a), s.do(ctx, a)})
	}
}

// solve starts the run that everything else looks at.
func (s *survey) solve(ctx context.Context) {
	async := map[string]string{alx.HeaderPrefer: alx.PreferAsync}
	plain := ojson.NewObject("intent", s.intent, "idempotencyKey", s.key, "userId", s.user)
	strange := plain.Clone()
	strange.Set("protocol", ojson.NewObject("protocol_version", strangeMinor,
		"capabilities", []string{strangeCapability}, strangeMember, true))
	strange.Set(strangeMember, ojson.NewObject("nested", []any{ojson.Int(1), nil, "two"}))
	post := func(purpose string, body *ojson.Object) *exchange {
		return s.do(ctx, ask{Purpose: purpose, Method: "POST", Path: alx.PathSolve, Body: compact(body), Header: async})
	}
	body := strange
	s.tolerant = post("solve with unknown members and capabilities, of another minor version", strange)
	if s.solved = s.tolerant; !accepted(s.solved) {
		body = plain
		s.plain = post("solve", plain)
		s.solved = s.plain
	}
	if accepted(s.solved) {
		s.again = post("the same solve again", body)
	} else {
		s.solved = nil
	}
	if s.solved == nil {
		return
	}
	s.executed = s.solved.Doc.String("executionId")
	s.sessionID = s.solved.Doc.Object("execution").String("sessionId")
	if s.sessionID == "" {
		s.sessionID = s.solved.Doc.String("sessionId")
	}
}

// accepted reports whether a solve led to an execution, whatever its outcome.
func accepted(x *exchange) bool {
	return x != nil && x.Doc != nil && (x.Status >= 200 && x.Status < 300 || x.Doc.String("executionId") != "")
}

// await watches the solve's run until it ends, a person is needed, or the time is over.
func (s *survey) await(ctx context.Context, wait time.Duration) {
	deadline := time.Now().Add(wait)
	s.findSession(ctx)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		mark := len(s.all)
		if s.sessionID != "" {
			s.session = s.do(ctx, ask{
				Purpose: "the solve's session",
				Method:  "GET",
				Path:    alx.SessionPath(s.sessionID),
			})
		}
		if s.executed == "" {
			s.executed = s.session.doc().String("executionId")
		}
		if s.executed != "" {
			s.events = s.do(ctx, ask{
				Purpose: "the solve's events",
				Method:  "GET",
				Path:    alx.RunEventsPath(s.executed),
			})
		}
		if settled(s.session) || ended(s.events) || s.events.isStream() || time.Now().After(deadline) ||
			ctx.Err() != nil ||
			(s.session == nil || s.session.Doc == nil) && (s.events == nil || s.events.Doc == nil) {
			break
		}
		s.all = s.all[:mark] // earlier looks add nothing to the last
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	if s.session != nil {
		s.sessions = append(s.sessions, s.session)
	}
	if s.events.isStream() {
		st := &stream{from: s.events}
		s.streams = append(s.streams, st)
		s.take(st, bytes.NewReader(s.events.Body), maxEvents)
	}
	s.pages(ctx, s.events)
	if s.events.doc() != nil && s.events.Status < 400 || s.events.isStream() {
		whole := s.stream(ctx, s.executed, "")
		if len(whole.events) > 1 && whole.events[0].ID != "" {
			s.stream(ctx, s.executed, whole.events[0].ID)
		}
	}
	if s.again.doc().String("executionId") == s.executed && s.executed != "" {
		s.final = s.do(ctx, ask{
			Purpose: "the same solve when its run has ended",
			Method:  "POST",
			Path:    alx.PathSolve,
			Body:    s.solved.Sent,
			Header:  map[string]string{alx.HeaderPrefer: alx.PreferAsync},
		})
	}
}

// findSession searches the list when the solve did not name its session.
func (s *survey) findSession(ctx context.Context) {
	if s.sessionID != "" {
		return
	}
	x := s.do(ctx, ask{Purpose: "sessions", Method: "GET", Path: alx.PathSessions})
	for _, o := range x.doc().Objects("sessions") {
		if o.String("executionId") == s.executed && s.executed != "" || o.String("intent") == s.intent {
			s.sessionID = o.String("sessionId")
			return
		}
	}
	s.sessionID = s.executed // some give both the same name
}

// lookAround reads the list and, of what exists already, the sessions and runs that failed: an
// endpoint cannot be asked to fail on purpose.
func (s *survey) lookAround(ctx context.Context) {
	s.list = s.do(ctx, ask{Purpose: "sessions", Method: "GET", Path: alx.PathSessions + "?xUnheardOf=1"})
	const most = 5
	looked := map[string]int{}
	for _, o := range s.list.doc().Objects("sessions") {
		id, status := o.String("sessionId"), o.String("status")
		if id == "" || id == s.sessionID || looked[status] == most {
			continue
		}
		looked[status]++
		x := s.do(ctx, ask{Purpose: "an earlier session", Method: "GET", Path: alx.SessionPath(id)})
		s.sessions = append(s.sessions, x)
		run := o.String("executionId")
		if run == "" {
			run = x.doc().String("executionId")
		}
		if run != "" {
			s.pages(ctx, s.do(ctx, ask{
				Purpose: "the events of an earlier session",
				Method:  "GET",
				Path:    alx.RunEventsPath(run),
			}))
		}
	}
}

// pages notes the events of a page and of those that follow it.
func (s *survey) pages(ctx context.Context, x *exchange) {
	for turn := 0; x != nil && x.Doc != nil && turn < 50; turn++ {
		list := x.Doc.Objects("events")
		for _, e := range list {
			if len(s.seen) < maxEvents {
				s.seen = append(s.seen, seenEvent{x, e})
			}
		}
		next := x.Doc.String("nextCursor")
		if next == "" || len(list) == 0 || ended(x) || len(s.seen) >= maxEvents {
			return
		}
		base, _, _ := strings.Cut(x.Path, "?")
		x = s.do(ctx, ask{Purpose: x.Purpose, Method: "GET", Path: base + "?after=" + queryEscape(next)})
	}
}

// stream reads a run's events as they are sent, until the run ends, as many have come as the page
// had, or the time of one request is over.
func (s *survey) stream(ctx context.Context, run, after string) *stream {
	ctx, cancel := context.WithTimeout(ctx, s.request)
	defer cancel()
	header := map[string]string{"Accept": alx.MediaEventStream}
	if after != "" {
		header[alx.HeaderLastEventID] = after
	}
	x, res := s.start(ctx, ask{
		Purpose: "the solve's event stream",
		Method:  "GET",
		Path:    alx.RunEventsPath(run),
		Header:  header,
	})
	x.Sent = "Accept: " + alx.MediaEventStream
	if after != "" {
		x.Sent += ", Last-Event-ID: " + after
	}
	out := &stream{from: x, after: after}
	if res == nil {
		return out
	}
	defer func() { _ = res.Body.Close() }()
	if !x.Stream {
		x.read(res)
		return out
	}
	s.streams = append(s.streams, out)
	enough := maxEvents
	if n := len(s.events.doc().Objects("events")); n > 0 && !ended(s.events) {
		// The run goes on or waits: there may be no more to see than the page had.
		if enough = n; after != "" {
			enough--
		}
	}
	s.take(out, res.Body, enough)
	return out
}

// take reads events until the run ends, enough have come or no more come.
func (s *survey) take(out *stream, src io.Reader, enough int) {
	r := sse.NewReader(src, alx.MaxRunEventBytes)
	for len(out.events) < enough {
		e, err := r.Next()
		if err != nil {
			return
		}
		out.events = append(out.events, e)
		o, _ := ojson.DecodeObject([]byte(e.Data))
		s.seen = append(s.seen, seenEvent{out.from, o})
		if alx.RunEventType(o.String("type")).Ends() {
			return
		}
	}
}

// settled reports whether a session will not go on by itself.
func settled(x *exchange) bool {
	switch alx.SessionStatus(x.doc().String("status")) {
	case alx.StatusCompleted, alx.StatusFailed, alx.StatusPaused, alx.StatusBlocked:
		return true
	}
	return false
}

// ended reports whether a page has the last event of its run.
func ended(x *exchange) bool {
	if x.doc().Bool("ended") {
		return true
	}
	return slices.ContainsFunc(x.doc().Objects("events"), func(e *ojson.Object) bool {
		return alx.RunEventType(e.String("type")).Ends()
	})
}

// doc returns the document of an exchange that may not have taken place.
func (x *exchange) doc() *ojson.Object {
	if x == nil {
		return nil
	}
	return x.Doc
}

func (x *exchange) isStream() bool { return x != nil && x.Stream }

func compact(o *ojson.Object) string { return string(ojson.Compact(o)) }
