// The JSON API (docs/dashboard.md#api): GET only, shapes as published.

package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func object(members ...any) *ojson.Object { return ojson.NewObject(members...) }

// writeJSON answers with one document.
func writeJSON(w http.ResponseWriter, status int, doc any) {
	data := append(ojson.Compact(ojson.Of(doc)), '\n')
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// apiError answers with an error: {ok, code, error}.
func apiError(w http.ResponseWriter, status int, id, message string) {
	writeJSON(w, status, object("ok", false, "code", id, "error", message))
}

func noResource(w http.ResponseWriter) {
	writeJSON(w, http.StatusNotFound, object("error", "Resource not found"))
}

// ask is one request to the API.
type ask struct {
	m   *model
	s   *snapshot
	srv *Server
	q   url.Values
	w   http.ResponseWriter
	r   *http.Request
	now time.Time
}

// api registers the endpoints.
func (s *Server) api(mux *http.ServeMux) {
	on := func(path string, f func(*ask)) {
		mux.HandleFunc("/api/"+path, func(w http.ResponseWriter, r *http.Request) {
			a := &ask{m: s.model, s: s.model.now(), srv: s, q: r.URL.Query(), w: w, r: r, now: s.opt.Now()}
			// What is open is then not what is there.
			if err, ok := a.s.SightErr.(*wire.Error); ok && err.Code == codeDirectory && path != "session" && path != "poll" {
				apiError(w, http.StatusInternalServerError, err.Code, err.Message)
				return
			}
			f(a)
		})
	}
	doc := func(path string, f func(*ask) any) {
		on(path, func(a *ask) { writeJSON(a.w, http.StatusOK, f(a)) })
	}
	rows := func(path string, of func(*model) *ledger, always bool) {
		on(path, func(a *ask) {
			l := of(a.m)
			if !l.exists() && !always {
				noResource(a.w)
				return
			}
			a.stream(l, l.entries())
		})
	}
	doc("session", (*ask).session)
	doc("poll", (*ask).poll)
	on("state", (*ask).state)
	doc("continuity", (*ask).continuity)
	rows("history", func(m *model) *ledger { return m.history }, false)
	rows("ledger", func(m *model) *ledger { return m.decisions }, false)
	rows("hooks/audit", func(m *model) *ledger { return m.hookAudit }, false)
	rows("hooks/annotations", func(m *model) *ledger { return m.hookNotes }, false)
	doc("repo-decisions-summary", func(a *ask) any { return a.m.decisionSummary() })
	on("events", (*ask).events)
	on("run-history", (*ask).runHistory)
	doc("chain-reports", func(a *ask) any {
		return a.documents(".agentxchain/reports", "chain-", "reports", a.limit(0),
			"completed_at", "started_at")
	})
	doc("missions", func(a *ask) any {
		return a.documents(".agentxchain/missions", "", "missions", a.limit(20), "updated_at", "created_at")
	})
	doc("plans", (*ask).plans)
	on("explain", (*ask).explain)
	doc("gate-actions", (*ask).gateActions)
	doc("watch-results", (*ask).watchResults)
	on("workflow-kit-artifacts", (*ask).kit)
	on("notifications", (*ask).notifications)
	on("connectors", (*ask).connectors)
	on("timeouts", (*ask).timeouts)
	s.coordinatorAPI(on, rows)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) { noResource(w) })
}

// limit reads the limit of the query, a whole number, or returns the default.
func (a *ask) limit(otherwise int) int {
	n, err := strconv.Atoi(a.q.Get("limit"))
	if err != nil {
		return otherwise
	}
	return n
}

// stream writes rows as they are in the ledger, as one array. It holds one row at a time, and gives
// up a client that does not read them.
func (a *ask) stream(l *ledger, rows []entry) {
	h := a.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	if a.r.Method == http.MethodHead {
		return
	}
	buf := append(make([]byte, 0, 96<<10), '[')
	flush := func() bool {
		_, err := a.w.Write(buf)
		buf = buf[:0]
		return err == nil
	}
	first, gone := true, false
	for len(rows) > 0 && !gone {
		n := min(len(rows), 5000)
		err := l.each(rows[:n], func(raw []byte) bool {
			if !first {
				buf = append(buf, ',')
			}
			first = false
			buf = append(buf, raw...)
			if len(buf) >= 64<<10 && !flush() {
				gone = true
			}
			return !gone
		})
		if err != nil {
			// The ledger was rewritten in the middle of the answer: half of it must not pass for
			// the whole.
			panic(http.ErrAbortHandler)
		}
		rows = rows[n:]
	}
	if !gone {
		buf = append(buf, "]\n"...)
		flush()
	}
}

// session answers GET /api/session. Nothing can be done here, so there is no token to do it with.
func (a *ask) session() any {
	return object("session_version", "1", "mutation_token", nil, "replay_mode", a.srv.opt.Replay != nil,
		"capabilities", object("approve_gate", false))
}

// poll answers GET /api/poll. The commands of a run send reminders; looking at the dashboard never
// does.
func (a *ask) poll() any {
	return object("ok", true, "polled_at", wire.FormatTime(time.Now()), "replay_mode", a.srv.opt.Replay != nil,
		"governed_project_detected", a.s.Governed, "state_available", a.m.has(string(wire.DocState)),
		"reminder_evaluation", object("reminders_sent", []any{}, "notifications_emitted", 0))
}

// events answers GET /api/events?type&since&limit&run_id: run_id applies after limit.
func (a *ask) events() {
	rows := a.m.events.entries()
	var types []string
	if t := a.q.Get("type"); t != "" {
		types = strings.Split(t, ",")
	}
	since := instant(a.q.Get("since"))
	limit := a.limit(50)
	run := a.q.Get("run_id")
	picked := []entry{}
	for i := len(rows) - 1; i >= 0; i-- {
		if limit > 0 && len(picked) == limit {
			break
		}
		e := &rows[i]
		if len(types) > 0 && !contains(types, e.Kind) || !since.IsZero() && !e.Time.After(since) {
			continue
		}
		picked = append(picked, *e)
	}
	out := []entry{}
	for _, p := range slices.Backward(picked) {
		if run == "" || p.Run == run {
			out = append(out, p)
		}
	}
	a.stream(a.m.events, out)
}

func contains(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.TrimSpace(x) == s })
}

// runHistory answers GET /api/run-history?limit: the newest first.
func (a *ask) runHistory() {
	rows := a.m.runHistory.entries()
	limit := a.limit(0)
	out := []entry{}
	for i := len(rows) - 1; i >= 0 && (limit <= 0 || len(out) < limit); i-- {
		out = append(out, rows[i])
	}
	a.stream(a.m.runHistory, out)
}
