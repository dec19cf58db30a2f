// Measurements of the server in Prometheus's form, in a registry of their own.

// Package prom measures a server of the ALX protocol with the maintained Prometheus
// client. It is linked by whoever wants it: the server itself knows server.Meter only.
package prom

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
)

// Meter is a server.Meter whose Handler answers in Prometheus's text form.
type Meter struct {
	reg      *prometheus.Registry
	handler  http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	sessions prometheus.Counter
	drives   *prometheus.CounterVec
	driving  prometheus.Histogram
	turns    *prometheus.CounterVec
	streams  prometheus.Gauge
	sent     prometheus.Counter
	dropped  prometheus.Counter
}

// New makes a meter with a registry of its own.
func New() *Meter {
	m := &Meter{
		reg:      prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "alx_http_requests_total", Help: "Requests answered."}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "alx_http_request_duration_seconds", Help: "Time to answer, streams and waiting solves left out.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}}, []string{"route"}),
		sessions: prometheus.NewCounter(prometheus.CounterOpts{Name: "alx_sessions_started_total", Help: "Solve requests that made a session."}),
		drives:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "alx_drives_total", Help: "Times a run was carried out, by where it stood afterwards."}, []string{"status"}),
		driving: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "alx_drive_duration_seconds", Help: "Time a run was carried out at a stretch.",
			Buckets: []float64{.1, .5, 1, 5, 15, 60, 300, 900, 3600, 14400}}),
		turns:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "alx_turns_total", Help: "Turns by what became of them."}, []string{"event"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "alx_event_streams", Help: "Event streams that are open."}),
		sent:    prometheus.NewCounter(prometheus.CounterOpts{Name: "alx_events_sent_total", Help: "Events written to streams."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "alx_streams_dropped_total", Help: "Streams given up because the client did not read."}),
	}
	m.reg.MustRegister(m.requests, m.seconds, m.sessions, m.drives, m.driving, m.turns, m.streams, m.sent, m.dropped)
	m.handler = promhttp.HandlerFor(m.reg, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	return m
}

// Watch adds what the server counts itself, asked for when the metrics are.
func (m *Meter) Watch(g server.Gauges) {
	m.reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "alx_runs_running", Help: "Runs that are carried out now."}, func() float64 { return float64(g.Running()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "alx_runs_waiting", Help: "Runs that wait to be carried out."}, func() float64 { return float64(g.Waiting()) }),
		&statuses{count: g.Sessions, desc: prometheus.NewDesc("alx_sessions", "Sessions by status.", []string{"status"}, nil)})
}

// Handler answers with every measurement.
func (m *Meter) Handler() http.Handler { return m.handler }

// Answered counts a request; timed ones go into the histogram of their route too.
func (m *Meter) Answered(route, method string, status int, took time.Duration, timed bool) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	if timed {
		m.seconds.WithLabelValues(route).Observe(took.Seconds())
	}
}

// Session counts a solve that made a session.
func (m *Meter) Session() { m.sessions.Inc() }

// Drove counts a stretch of carrying a run out, by where the run stood afterwards.
func (m *Meter) Drove(status alx.SessionStatus, took time.Duration) {
	m.drives.WithLabelValues(string(status)).Inc()
	m.driving.Observe(took.Seconds())
}

// Turn counts what became of a turn.
func (m *Meter) Turn(event string) { m.turns.WithLabelValues(event).Inc() }

// Stream counts event streams that are opened (1) and closed (-1).
func (m *Meter) Stream(delta int) { m.streams.Add(float64(delta)) }

// Sent counts events written to streams.
func (m *Meter) Sent(n int) { m.sent.Add(float64(n)) }

// Dropped counts streams given up because the client did not read.
func (m *Meter) Dropped() { m.dropped.Inc() }

// statuses counts sessions when it is asked.
type statuses struct {
	count func() map[alx.SessionStatus]int
	desc  *prometheus.Desc
}

// Describe names the one metric of the collector.
func (c *statuses) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect counts now.
func (c *statuses) Collect(ch chan<- prometheus.Metric) {
	n := c.count()
	for _, st := range alx.SessionStatuses() {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n[st]), string(st))
	}
}
