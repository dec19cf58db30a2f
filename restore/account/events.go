// Events: the latest, its age, and recoveries (docs/export.md §5.3.2, §5.3.5).

package account

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const recentWindow = 15 * time.Minute

// recent summarises an event log: {window_minutes, freshness, recent_count, latest_event}.
func recent(events []*ojson.Object, now time.Time) *ojson.Object {
	fresh := func(e *ojson.Object) (known, is bool) {
		at, err := wire.ParseTime(e.String("timestamp"))
		return err == nil, err == nil && now.Sub(at) <= recentWindow
	}
	o := ojson.NewObject("window_minutes", int(recentWindow/time.Minute), "freshness", "no_events", "recent_count", 0,
		"latest_event", nil)
	if len(events) == 0 {
		return o
	}
	n := 0
	for _, e := range events {
		if _, is := fresh(e); is {
			n++
		}
	}
	last := events[len(events)-1]
	known, is := fresh(last)
	switch {
	case !known:
		o.Set("freshness", "unknown")
	case is:
		o.Set("freshness", "recent")
	default:
		o.Set("freshness", "quiet")
	}
	o.Set("recent_count", n)
	o.Set("latest_event", eventObject(last))
	return o
}

func eventType(e *ojson.Object, none string) string {
	if s, ok := first(e, "event_type", "type").(string); ok {
		return s
	}
	return none
}

func eventObject(e *ojson.Object) *ojson.Object {
	turn := e.Object("turn")
	id, role := ojson.OrNull(turn.String("turn_id")), first(turn, "role_id", "assigned_role")
	if id == nil {
		id = ojson.OrNull(e.String("turn_id"))
	}
	if role == nil {
		role = first(e, "role_id", "role")
	}
	return ojson.NewObject("event_type", eventType(e, "unknown_event"),
		"timestamp", ojson.OrNull(e.String("timestamp")), "phase", ojson.OrNull(e.String("phase")),
		"status", ojson.OrNull(e.String("status")), "turn_id", id, "role_id", role,
		"repo_id", ojson.OrNull(e.String("repo_id")), "summary", eventSummary(e))
}

// eventSummary describes an event in a few words.
func eventSummary(e *ojson.Object) string {
	kind := eventType(e, "unknown_event")
	p := e.Object("payload")
	said := func(keys ...string) string {
		for _, o := range []*ojson.Object{p, e} {
			switch v := first(o, keys...).(type) {
			case string:
				return v
			case ojson.Number:
				return string(v)
			case []any:
				return strconv.Itoa(len(v))
			}
		}
		return ""
	}
	detail := func(format string, values ...string) string {
		for _, v := range values {
			if v == "" {
				return ""
			}
			format = strings.Replace(format, "%", v, 1)
		}
		return format
	}
	s := kind
	switch kind {
	case agentrun.EventPhaseEntered:
		s += detail(" % -> %", said("from", "from_phase"), said("to", "to_phase"))
	case agentrun.EventGatePending, agentrun.EventGateApproved, agentrun.EventGateFailed:
		s += detail(" (%)", said("gate_id", "gate"))
	case agentrun.EventConflictResolved:
		s += detail(" via %", said("resolution"))
	case "coordinator_retry", "coordinator_retry_projection_warning":
		s += detail(" % (%)", said("workstream_id"), said("repo_id"))
		if kind != "coordinator_retry" {
			s += " — reconciliation required"
		}
	case "intents_migrated", "intents_superseded", "intent_retired_by_phase_advance":
		s += detail(" (%)", said("count", "intents", "intent_ids"))
	case "session_continuation":
		s += detail(" % -> % (%)", said("previous_run_id"), said("next_run_id"), said("next_objective", "objective"))
	default:
		turn := e.Object("turn")
		role, _ := first(turn, "role_id", "assigned_role").(string)
		switch {
		case strings.HasPrefix(kind, "turn_") || kind == agentrun.EventAcceptanceFailed:
			s += detail(" [%]", role)
		case !slices.Contains(agentrun.EventTypes(), kind) && e.String("summary") != "":
			s = e.String("summary")
		}
	}
	if repo := e.String("repo_id"); repo != "" {
		s = "[" + repo + "] " + s
	}
	return s
}

// recoveryKind is how an event counts as a recovery.
type recoveryKind struct{ domain, severity, outcome, mechanism, summary string }

func recoveryOf(e *ojson.Object) (k recoveryKind, ok bool) {
	p := e.Object("payload")
	switch eventType(e, "") {
	case "auto_retried_ghost":
		return recoveryKind{"ghost", "medium", "recovered", "auto_retry",
			"A turn that never started was reissued"}, true
	case "auto_retried_productive_timeout":
		return recoveryKind{"ghost", "medium", "recovered", "auto_retry",
			"A turn that ran out of time at work was reissued"}, true
	case "ghost_retry_exhausted":
		k = recoveryKind{"ghost", "high", "exhausted", "auto_retry",
			"Turns that never start are no longer reissued"}
		if p.String("exhaustion_reason") == "same_signature_repeat" {
			k.severity = "critical"
		}
		return k, true
	case "productive_timeout_retry_exhausted":
		return recoveryKind{"ghost", "high", "exhausted", "auto_retry",
			"Turns that run out of time are no longer reissued"}, true
	case agentrun.EventBudgetExceededWarn:
		k = recoveryKind{"budget", "medium", "pending", "config_change", "The budget is used up or nearly so"}
		if left, ok := p.Float("remaining_usd"); ok && left <= 0 {
			k.severity = "high"
		}
		return k, true
	case "retained_claude_auth_escalation_reclassified":
		return recoveryKind{"credential", "medium", "pending", "env_refresh",
			"A runtime's credentials have to be renewed"}, true
	case "continuous_paused_active_run_recovered":
		return recoveryKind{"crash", "medium", "recovered", "loop_guard",
			"A paused loop found its run still active and went on"}, true
	case "session_failed_recovered_active_run":
		return recoveryKind{"crash", "medium", "recovered", "loop_guard",
			"A failed session found its run still active and went on"}, true
	}
	return k, false
}

// classify summarises recoveries; nil if there are none.
func classify(events []*ojson.Object) *ojson.Object {
	outcomes := [...]string{"recovered", "exhausted", "manual", "pending"}
	domains, total := &ojson.Object{}, &ojson.Object{}
	for _, d := range [...]string{"ghost", "budget", "credential", "crash"} {
		o := ojson.NewObject("total", 0)
		for _, k := range outcomes {
			o.Set(k, 0)
		}
		domains.Set(d, o)
	}
	for _, k := range outcomes {
		total.Set(k, 0)
	}
	add := func(o *ojson.Object, key string) { n, _ := o.Int(key); o.Set(key, n+1) }
	timeline := []*ojson.Object{}
	critical := false
	for _, e := range events {
		k, ok := recoveryOf(e)
		if !ok {
			continue
		}
		critical = critical || k.severity == "critical"
		add(domains.Object(k.domain), "total")
		add(domains.Object(k.domain), k.outcome)
		add(total, k.outcome)
		timeline = append(timeline, ojson.NewObject("event_id", ojson.OrNull(e.String("event_id")),
			"timestamp", ojson.OrNull(e.String("timestamp")), "event_type", eventType(e, ""), "domain", k.domain,
			"severity", k.severity, "outcome", k.outcome, "mechanism", k.mechanism, "summary", k.summary))
	}
	if len(timeline) == 0 {
		return nil
	}
	health := "healthy"
	switch {
	case critical || count(total, "exhausted") > count(total, "recovered"):
		health = "critical"
	case count(total, "exhausted") > 0 || count(total, "manual") > 0:
		health = "degraded"
	}
	return ojson.NewObject("total_recovery_events", len(timeline), "by_domain", domains, "by_outcome", total,
		"timeline", byTime(timeline), "health_score", health)
}
