// GET /alx/v1/runs/{id}/events: a page, or a stream that can be resumed.

package server

import (
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/derive"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/sse"
)

// slowest is how long a client of a stream may take to read what is written to it.
const slowest = 10 * time.Second

func (s *Server) events(c *call) *alx.Error {
	accept := c.r.Header.Values("Accept")
	stream, page := quality(accept, alx.MediaEventStream), quality(accept, alx.MediaJSON)
	if stream == 0 && page == 0 {
		return alx.Errorf(alx.CodeNotAcceptable, "This path answers in %s and %s.", alx.MediaJSON,
			alx.MediaEventStream)
	}
	x := s.index.run(c.id)
	if x == nil {
		return alx.Errorf(alx.CodeRunNotFound, "There is no run %s.", clip(c.id))
	}
	c.attrs = append(c.attrs, "executionId", c.id)
	after := c.r.URL.Query().Get("after")
	if last := c.r.Header.Get(alx.HeaderLastEventID); last != "" {
		after = last
	}
	from, ok := derive.After(x.look().events, after)
	if !ok || len(after) > alx.MaxLastEventBytes {
		return alx.Errorf(alx.CodeInvalidCursor, "This run has no event of that id.")
	}
	// A client that accepts both without a preference gets the page.
	if len(accept) > 0 && stream > 0 && (stream > page || page == 0) {
		if snap := x.look(); snap.ended && from == len(snap.events) && from > 0 {
			// A standard EventSource that has everything would reconnect for ever: 204 ends it.
			c.w.Header().Set(alx.HeaderCorrelationID, c.correlation)
			c.status = http.StatusNoContent
			c.w.WriteHeader(c.status)
			return nil
		}
		return s.stream(c, x, from)
	}
	limit, why := c.number("limit", alx.MaxRunEventsPage, alx.MaxRunEventsPage)
	if why != nil {
		return why
	}
	snap := x.look()
	rest := snap.events[from:]
	answer := &alx.RunEventPage{
		Envelope: alx.NewEnvelope(true, c.correlation),
		RunID:    c.id,
		Events:   rest[:min(limit, len(rest))],
	}
	answer.Ended = snap.ended && len(answer.Events) == len(rest)
	if !answer.Ended {
		answer.NextCursor = after
		if n := len(answer.Events); n > 0 {
			answer.NextCursor = answer.Events[n-1].ID
		}
	}
	if answer.Events == nil {
		answer.Events = []alx.RunEvent{}
	}
	c.send(http.StatusOK, alx.Encode(answer))
	return nil
}

// stream sends events as they become known. Every client reads from the one list of the run, at its
// own pace: there is no buffer that could overflow, and a client that does not read for the time
// slowest is disconnected.
func (s *Server) stream(c *call, x *session, from int) *alx.Error {
	release, ok := take(s.busyIO.streams)
	if !ok {
		return tooMany()
	}
	defer release()
	c.free()
	c.untimed = true
	s.opt.Meter.Stream(1)
	defer s.opt.Meter.Stream(-1)
	h := c.w.Header()
	h.Set(alx.HeaderCorrelationID, c.correlation)
	h.Set("Content-Type", alx.MediaEventStream)
	h.Set("X-Accel-Buffering", "no") // buffering proxies would hold events back
	c.status = http.StatusOK
	c.w.WriteHeader(c.status)
	if c.r.Method == http.MethodHead {
		return nil
	}
	out := http.NewResponseController(c.w)
	write := func(b []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(slowest))
		_, err := c.w.Write(b)
		if err == nil {
			err = out.Flush()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.opt.Meter.Dropped()
			c.attrs = append(c.attrs, "dropped", "the client did not read")
		}
		return err == nil
	}
	if !write([]byte("retry: 1000\n: events of " + x.facts.Run + "\n\n")) {
		return nil
	}
	beat := time.NewTicker(s.opt.Heartbeat)
	defer beat.Stop()
	sent := 0
	defer func() { c.attrs = append(c.attrs, "events", sent) }()
	for {
		snap := x.look()
		for ; from < len(snap.events); from++ {
			if !write(frame(&snap.events[from])) {
				return nil
			}
			sent++
			s.opt.Meter.Sent(1)
		}
		if snap.ended {
			return nil
		}
		select {
		case <-c.r.Context().Done():
			return nil
		case <-s.ending:
			write([]byte(": the service is shutting down; come back with Last-Event-ID\n\n"))
			return nil
		case <-snap.next:
		case <-beat.C:
			if !write([]byte(": still here\n\n")) {
				return nil
			}
		}
	}
}

// frame returns an event in the form of a stream.
func frame(e *alx.RunEvent) []byte {
	return sse.Append(nil, sse.Event{ID: e.ID, Type: string(e.Type), Data: string(alx.Encode(e))})
}
