// The counters and histograms of a server.

package prom

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
)

// Meter is a server.Meter whose Handler answers in Prometheus's text form.
type Meter struct {
	families []*family // by name
	asked    chan struct{}

	requests, sessions, drives, turns, sent, dropped *family // counters
	seconds, driving                                 *family // histograms
	streams                                          *family
}

// maxScrapes bounds how many requests for the metrics are answered at once.
const maxScrapes = 4

// New makes a meter.
func New() *Meter {
	m := &Meter{asked: make(chan struct{}, maxScrapes)}
	m.requests = m.family(counter, "alx_http_requests_total", "Requests answered.", "method", "route", "status")
	m.seconds = m.family(histogram, "alx_http_request_duration_seconds",
		"Time to answer, streams and waiting solves left out.", "route")
	m.seconds.bounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
	m.sessions = m.family(counter, "alx_sessions_started_total", "Solve requests that made a session.")
	m.drives = m.family(counter, "alx_drives_total",
		"Times a run was carried out, by where it stood afterwards.", "status")
	m.driving = m.family(histogram, "alx_drive_duration_seconds", "Time a run was carried out at a stretch.")
	m.driving.bounds = []float64{.1, .5, 1, 5, 15, 60, 300, 900, 3600, 14400}
	m.turns = m.family(counter, "alx_turns_total", "Turns by what became of them.", "event")
	m.streams = m.family(gauge, "alx_event_streams", "Event streams that are open.")
	m.sent = m.family(counter, "alx_events_sent_total", "Events written to streams.")
	m.dropped = m.family(counter, "alx_streams_dropped_total", "Streams given up because the client did not read.")
	for _, f := range m.families {
		if len(f.labels) == 0 {
			f.at() // counted from 0 on, before the first event
		}
	}
	return m
}

// family adds a family; labels are in the order of their names.
func (m *Meter) family(kind, name, help string, labels ...string) *family {
	f := &family{
		kind:   kind,
		name:   name,
		help:   help,
		labels: labels,
	}
	at, _ := slices.BinarySearchFunc(m.families, name, func(f *family, name string) int {
		return strings.Compare(f.name, name)
	})
	m.families = slices.Insert(m.families, at, f)
	return f
}

// Watch adds what the server counts itself, read when the metrics are requested.
func (m *Meter) Watch(g server.Gauges) {
	m.family(gauge, "alx_runs_running", "Runs that are carried out now.").count =
		func(f *family) { f.set(float64(g.Running())) }
	m.family(gauge, "alx_runs_waiting", "Runs that wait to be carried out.").count =
		func(f *family) { f.set(float64(g.Waiting())) }
	m.family(gauge, "alx_sessions", "Sessions by status.", "status").count = func(f *family) {
		n := g.Sessions()
		for _, status := range alx.SessionStatuses() {
			f.set(float64(n[status]), string(status))
		}
	}
}

// Handler answers with every measurement.
func (m *Meter) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case m.asked <- struct{}{}:
			defer func() { <-m.asked }()
		default:
			http.Error(w, "too many requests for the metrics at once", http.StatusServiceUnavailable)
			return
		}
		var text strings.Builder
		for _, f := range m.families {
			f.write(&text)
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(text.String()))
	})
}

// Answered counts a request; timed ones go into the histogram of their route too.
func (m *Meter) Answered(route, method string, status int, took time.Duration, timed bool) {
	m.requests.add(1, method, route, strconv.Itoa(status))
	if timed {
		m.seconds.observe(took.Seconds(), route)
	}
}

// Session counts a solve that made a session.
func (m *Meter) Session() { m.sessions.add(1) }

// Drove counts one drive of a run, by where the run stood afterwards.
func (m *Meter) Drove(status alx.SessionStatus, took time.Duration) {
	m.drives.add(1, string(status))
	m.driving.observe(took.Seconds())
}

// Turn counts the outcome of a turn.
func (m *Meter) Turn(event string) { m.turns.add(1, event) }

// Stream counts event streams that are opened (1) and closed (-1).
func (m *Meter) Stream(delta int) { m.streams.add(float64(delta)) }

// Sent counts events written to streams.
func (m *Meter) Sent(n int) { m.sent.add(float64(n)) }

// Dropped counts streams given up because the client did not read.
func (m *Meter) Dropped() { m.dropped.add(1) }
