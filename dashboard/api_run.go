// The API for the surroundings of a run: notifications, and the runtimes it uses.

package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// notifications answers GET /api/notifications. Addresses of webhooks are usually secret and are
// left out.
func (a *ask) notifications() {
	if a.srv.opt.Replay != nil {
		writeJSON(a.w, http.StatusOK, object("ok", true, "replay_mode", true,
			"message", "Notification audit is live-only and not available in replay mode."))
		return
	}
	if a.unusable() {
		return
	}
	n := a.s.Sight.View.Config.Notifications
	hooks := []*ojson.Object{}
	for _, w := range n.Objects("webhooks") {
		events := w.Strings("events")
		hooks = append(hooks, object("name", ojson.OrNull(w.String("name")), "timeout_ms", w.Value("timeout_ms"),
			"event_count", len(events), "events", append([]string{}, events...)))
	}
	var sla any
	if o := n.Object("approval_sla"); o != nil {
		enabled := true
		if v, ok := o.Value("enabled").(bool); ok {
			enabled = v
		}
		sla = object("enabled", enabled,
			"reminder_after_seconds", append([]any{}, o.Array("reminder_after_seconds")...))
	}
	rows := a.m.notifications.entries()
	delivered, failed, late := 0, 0, 0
	var last, lastFailure string
	full := a.m.notifications.decode(rows[max(0, len(rows)-20_000):])
	for _, o := range full {
		last = cmp.Or(o.String("emitted_at"), last)
		switch {
		case o.Bool("delivered"):
			delivered++
			continue
		case o.Bool("timed_out"):
			late++
		}
		failed++
		lastFailure = cmp.Or(o.String("emitted_at"), lastFailure)
	}
	recent := slices.Clone(full[max(0, len(full)-10):])
	slices.Reverse(recent)
	writeJSON(a.w, http.StatusOK, object("ok", true, "configured", len(hooks) > 0, "webhooks", hooks,
		"approval_sla", sla,
		"summary", object("total_attempts", len(rows), "delivered", delivered, "failed", failed, "timed_out", late,
			"last_emitted_at", ojson.OrNull(last), "last_failure_at", ojson.OrNull(lastFailure)),
		"recent", append([]*ojson.Object{}, recent...)))
}

// connectors answers GET /api/connectors: the runtimes that are not manual.
func (a *ask) connectors() {
	if a.unusable() {
		return
	}
	out := []*ojson.Object{}
	for id, rt := range a.s.Sight.View.Config.Runtimes.All() {
		if rt != nil &&
			(rt.Type == "local_cli" || rt.Type == "api_proxy" || rt.Type == "mcp" || rt.Type == "remote_agent") {
			out = append(out, a.connector(id, rt))
		}
	}
	writeJSON(a.w, http.StatusOK, object("ok", true, "connectors", out))
}

func (a *ask) connector(id string, rt *config.Runtime) *ojson.Object {
	turns, roles := []string{}, []string{}
	attempts, tried := any(nil), time.Time{}
	st := a.s.Sight.View.State
	var last entry
	note := func(e entry) {
		if e.Time.After(last.Time) || last.Turn == "" {
			last = e
		}
	}
	for turn, t := range st.ActiveTurns.All() {
		if t == nil || t.RuntimeID != id {
			continue
		}
		turns = append(turns, turn)
		if !slices.Contains(roles, t.AssignedRole) {
			roles = append(roles, t.AssignedRole)
		}
		attempts = t.Attempt
		at := instant(cmp.Or(t.DispatchedAt, t.AssignedAt))
		if at.After(tried) {
			tried = at
		}
		note(entry{Turn: turn, Role: t.AssignedRole, Phase: st.Phase, Time: at})
	}
	var good, bad entry
	rows := a.m.history.entries()
	for _, row := range slices.Backward(rows) {
		if row.Ref == id && row.Status != agentrun.HistoryReissued {
			good = row
			break
		}
	}
	ev := a.m.events.entries()
	for i := len(ev) - 1; i >= 0 && len(ev)-i < 50_000; i-- {
		e := &ev[i]
		switch e.Kind {
		case "runtime_spawn_failed", "stdout_attach_failed", "turn_start_failed", "turn_stalled", "acceptance_failed":
			if e.Ref == id || a.runtimeOf(e) == id {
				bad = *e
			}
		}
		if bad.Kind != "" {
			break
		}
	}
	var latency any
	if good.Turn != "" {
		note(good)
		if o, err := a.m.history.row(good); err == nil {
			if ms, ok := o.Int("duration_ms"); ok {
				latency = ms
			}
		}
		if good.Time.After(tried) {
			tried = good.Time
		}
	}
	if bad.Kind != "" {
		note(bad)
		if bad.Time.After(tried) {
			tried = bad.Time
		}
	}
	state, reachable := "never_used", "unknown"
	switch {
	case bad.Kind != "" && bad.Time.After(good.Time):
		state, reachable = "failing", "no"
	case len(turns) > 0:
		state = "active"
	case good.Turn != "":
		state, reachable = "healthy", "yes"
	}
	stamp := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return wire.FormatTime(t)
	}
	return object("runtime_id", id, "type", rt.Type, "target", target(rt), "state", state, "reachable", reachable,
		"active_turn_ids", turns, "active_roles", roles, "last_turn_id", ojson.OrNull(last.Turn),
		"last_role", ojson.OrNull(last.Role), "last_phase", ojson.OrNull(last.Phase), "last_attempt_at", stamp(tried),
		"last_success_at", stamp(good.Time), "last_failure_at", stamp(bad.Time), "latency_ms", latency,
		"attempts_made", attempts, "last_error", ojson.OrNull(bad.Text))
}

// runtimeOf returns the runtime of the turn that an event is about.
func (a *ask) runtimeOf(e *entry) string {
	if t, ok := a.s.Sight.View.State.ActiveTurns.Get(e.Turn); ok && t != nil {
		return t.RuntimeID
	}
	if h, ok := a.m.history.ofTurn(e.Turn); ok {
		return h.Ref
	}
	return ""
}

// target returns what a runtime starts or asks, without anything secret.
func target(rt *config.Runtime) any {
	switch rt.Type {
	case "api_proxy":
		return ojson.OrNull(strings.Trim(rt.Raw.String("provider")+" / "+rt.Raw.String("model"), " /"))
	case "remote_agent":
		return bare(rt.Raw.String("url"))
	}
	if s := rt.Raw.String("url"); s != "" {
		return bare(s)
	}
	if s := rt.Raw.String("command"); s != "" {
		return s
	}
	return ojson.OrNull(strings.Join(append(rt.Raw.Strings("command"), rt.Raw.Strings("args")...), " "))
}

// bare returns an address without parts that may be secret.
func bare(address string) any {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return ojson.OrNull(u.String())
}
