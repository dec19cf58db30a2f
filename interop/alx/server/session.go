// A session in memory: what it shows, and what is being done about it.

package server

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/derive"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// session is a run as it is shown. The run may be one of ours, with a record, or one that a person
// drives, which has only the ref.
type session struct {
	rec *record // nil for a run that did not start here; never changed, replaced under mu

	mu      sync.Mutex
	origin  derive.Origin
	facts   derive.Facts
	log     *derive.Log
	tip     runner.OpID         // operation of the facts, "" before the run has begun
	at      *runner.RecordedRun // the same, to detect what is new; nil when the run is over
	config  []byte              // the bytes of facts.Config
	live    derive.Live
	queued  bool
	driven  bool
	rested  runner.OpID // tip when the last drive ended
	order   int64       // of creation, for the list
	changed chan struct{}

	shown atomic.Pointer[snapshot]
}

// snapshot is what a session shows at one moment. It is never changed.
type snapshot struct {
	session alx.Session
	events  []alx.RunEvent
	ended   bool // no more events will come
	settled bool // nothing is done about it now, nor will be before a person acts
	body    body // SessionResponse
	next    chan struct{}
}

// body is an encoded answer that lacks only the correlation id of the request.
type body struct{ head, tail []byte }

func newBody(make func(correlation string) any) body {
	mark := alx.NewCorrelationID()
	head, tail, _ := bytes.Cut(alx.Encode(make(mark)), []byte(mark))
	return body{head, tail}
}

func (b body) answer(correlation string) []byte {
	out := make([]byte, 0, len(b.head)+len(correlation)+len(b.tail)+1)
	out = append(append(append(out, b.head...), correlation...), b.tail...)
	return append(out, '\n')
}

func newSession(rec *record, run string) *session {
	s := &session{rec: rec, changed: make(chan struct{})}
	s.facts.Run = run
	s.live.Ahead = -1
	if rec != nil {
		s.order = rec.Order
		s.origin = derive.Origin{
			SessionID:      rec.SessionID,
			UserID:         rec.UserID,
			Intent:         rec.Intent,
			CorrelationID:  rec.CorrelationID,
			IdempotencyKey: rec.IdempotencyKey,
			CreatedAt:      rec.CreatedAt,
			Failed:         rec.Failed,
			FailedAt:       rec.FailedAt,
		}
	} else {
		s.origin = derive.Origin{SessionID: run, CorrelationID: run}
		if !alx.SaneCorrelationID(run) {
			s.origin.CorrelationID = "recorded-run"
		}
	}
	s.log = derive.NewLog(s.origin, run)
	return s
}

func (s *session) id() string { return s.origin.SessionID }

// show publishes what is known now, and wakes those that wait for news. The caller holds mu.
func (s *session) show() {
	s.log.Fail(&s.origin, s.facts.State)
	s.live.Driven = s.driven
	if s.rec != nil && s.rec.SettledAt != "" {
		s.live.Branch = s.rec.Branch
	}
	events := slices.Clip(s.log.Events)
	next := make(chan struct{})
	snap := &snapshot{session: derive.Session(&s.origin, &s.facts, s.live, events), events: events, next: next}
	snap.ended = snap.session.Status.Ended() && s.log.Ended()
	snap.settled = !s.driven && !s.queued
	timeline := derive.Timeline(&s.origin, &s.facts, events)
	snap.body = newBody(func(correlation string) any {
		return &alx.SessionResponse{
			Envelope: alx.NewEnvelope(true, correlation),
			Session:  snap.session,
			Timeline: timeline,
		}
	})
	s.shown.Store(snap)
	close(s.changed)
	s.changed = next
}

// look returns what the session shows.
func (s *session) look() *snapshot { return s.shown.Load() }

// update changes a session and shows it.
func (s *session) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.show()
}

// rows keeps those of a ledger's lines that belong to the session's run.
func (s *session) rows(lines []*ojson.Object) []*ojson.Object {
	var out []*ojson.Object
	for _, row := range lines {
		if row.String("run_id") == s.facts.Run {
			out = append(out, row)
		}
	}
	return out
}
