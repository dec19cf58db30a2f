// The model of a run (docs/reports.md#what-a-report-says).

package account

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// runModel derives the report of a run artifact.
type runModel struct {
	a              *Artifact
	opt            Options
	summary, state *ojson.Object
	config         *ojson.Object // as written; nil without one
	scope          *scope
	history        []*ojson.Object // rows of this run
	ledger         []*ojson.Object
	events         []*ojson.Object
}

func newRunModel(a *Artifact, opt Options) *runModel {
	m := &runModel{
		a:       a,
		opt:     opt,
		summary: a.Head.Object("summary"),
		state:   a.Head.Object("state"),
		config:  a.Head.Object("config"),
	}
	history := m.rows(pathHistory)
	m.scope = newScope(m.summary.String("run_id"), m.state, history, opt.AllRuns)
	m.history = m.scope.keep(history)
	m.ledger = m.scope.keep(m.rows(pathDecisions))
	m.events = m.scope.keep(m.rows(pathEvents))
	return m
}

func (m *runModel) rows(path string) []*ojson.Object {
	if f := m.a.Files[path]; f != nil {
		return f.Rows
	}
	return nil
}

func (m *runModel) document(path string) *ojson.Object {
	if f := m.a.Files[path]; f != nil {
		o, _ := f.Data.(*ojson.Object)
		return o
	}
	return nil
}

// subject returns the governed_run subject.
func (m *runModel) subject() *ojson.Object {
	p := m.a.Head.Object("project")
	project := ojson.NewObject("id", orNull(p.Value("id")), "name", orNull(p.Value("name")),
		"goal", orNull(p.Value("goal")), "template", cmp.Or(p.String("template"), "generic"),
		"protocol_mode", orNull(p.Value("protocol_mode")), "schema_version", orNull(p.Value("schema_version")))
	artifacts := &ojson.Object{}
	for _, k := range [...]string{"history_entries", "decision_entries", "hook_audit_entries",
		"notification_audit_entries", "dispatch_artifact_files", "staging_artifact_files"} {
		artifacts.Set(k, count(m.summary, k))
	}
	artifacts.Set("intake_present", m.summary.Bool("intake_present"))
	artifacts.Set("coordinator_present", m.summary.Bool("coordinator_present"))
	return ojson.NewObject("kind", KindRun, "project", project, "run", m.run(), "artifacts", artifacts)
}

func (m *runModel) run() *ojson.Object {
	s, st := m.summary, m.state
	turns := m.turns()
	completed, created := any(nil), ojson.OrNull(st.String("created_at"))
	if n := len(turns); n > 0 && s.String("status") == string(wire.StatusCompleted) {
		completed = turns[n-1].Value("accepted_at")
	}
	active, retained := s.Strings("active_turn_ids"), s.Strings("retained_turn_ids")
	provenance := restore.Provenance(s.Value("provenance"))
	if provenance == nil {
		provenance = restore.Provenance(st.Value("provenance"))
	}
	inherited := s.Value("inherited_context")
	if !ojson.Truthy(inherited) {
		inherited = orNull(st.Value("inherited_context"))
	}
	r := ojson.NewObject(
		"run_id", orNull(s.Value("run_id")), "status", orNull(s.Value("status")),
		"phase", orNull(s.Value("phase")), "blocked_on", orNull(st.Value("blocked_on")),
		"blocked_reason", orNull(st.Value("blocked_reason")), "provenance", provenance,
		"inherited_context", inherited, "active_turn_count", len(active), "retained_turn_count", len(retained),
		"active_turn_ids", texts(s, "active_turn_ids"), "retained_turn_ids", texts(s, "retained_turn_ids"),
		"active_roles", m.activeRoles(), "budget_status", budget(st.Object("budget_status")),
		"cost_summary", costs(turns), "dashboard_session", dashboard(s.Object("dashboard_session")),
		"recent_event_summary", recent(m.events, m.opt.Now), "created_at", created, "completed_at", completed,
		"duration_seconds", seconds(created, completed), "turns", turns,
	)
	for k, v := range ledgerSections(m.ledger, false).All() {
		r.Set(k, v)
	}
	r.Set("delegation_summary", m.delegations())
	r.Set("hook_summary", hookSummary(m.scope.keep(m.rows(pathHookAudit))))
	r.Set("gate_summary", gateSummary(st.Object("phase_gate_status")))
	r.Set("intake_links", m.intake())
	r.Set("recovery_summary", m.recovery())
	r.Set("recovery_classification", classify(m.events))
	r.Set("next_actions", m.nextActions())
	r.Set("continuity", m.continuity())
	r.Set("workflow_kit_artifacts", m.kit())
	r.Set("repo_decisions", orNull(s.Value("repo_decisions")))
	r.Set("ship_status", m.ship())
	r.Set("human_attention", m.attention())
	r.Set("role_charters", m.charters())
	// In addition to the published format.
	r.Set("phases", m.phases())
	r.Set("objections", m.objections())
	r.Set("approvals", m.approvals())
	r.Set("human_decisions", m.personActs())
	r.Set("human_escalations", m.humanEscalations())
	r.Set("abandoned", m.abandoned())
	r.Set("scope", m.told())
	r.Set("timeline", m.picture())
	return r
}

// abandoned says who ended the run for good and why, null if no person did.
func (m *runModel) abandoned() any {
	a := m.state.Object("abandoned")
	if a == nil || m.state.String("status") != string(wire.StatusFailed) {
		return nil
	}
	return ojson.NewObject("by", a.Object("by").String("name"), "reason", a.String("reason"), "at", a.String("at"),
		"from_status", a.String("from_status"))
}

func (m *runModel) activeRoles() []string {
	var roles []string
	for _, v := range m.state.Object("active_turns").All() {
		if t, ok := v.(*ojson.Object); ok && t.String("assigned_role") != "" {
			roles = append(roles, t.String("assigned_role"))
		}
	}
	return sortedNames(roles)
}

// told says how much of the ledgers the report covers: {run_id, all_runs, turns_of_other_runs}.
func (m *runModel) told() *ojson.Object {
	others := 0
	for _, row := range m.rows(pathHistory) {
		if !m.scope.holds(row) {
			others++
		}
	}
	return ojson.NewObject("run_id", orNull(m.summary.Value("run_id")), "all_runs", m.opt.AllRuns,
		"turns_of_other_runs", others)
}

// phases returns the phases in order: {phase, status (done, current, ahead), gate}.
func (m *runModel) phases() []*ojson.Object {
	order := m.summary.Strings("workflow_phase_order")
	now := slices.Index(order, m.summary.String("phase"))
	out := []*ojson.Object{}
	for i, p := range order {
		status := "ahead"
		switch {
		case i < now, i == now && m.summary.String("status") == string(wire.StatusCompleted):
			status = "done"
		case i == now:
			status = "current"
		}
		out = append(out, ojson.NewObject("phase", p, "status", status,
			"exit_gate", ojson.OrNull(m.config.Object("routing").Object(p).String("exit_gate"))))
	}
	return out
}

func budget(b *ojson.Object) *ojson.Object {
	o := &ojson.Object{}
	for _, k := range [...]string{"spent_usd", "remaining_usd"} {
		if _, ok := finite(b, k); ok {
			o.Set(k, b.Value(k))
		}
	}
	for _, k := range [...]string{"warn_mode", "exhausted"} {
		if b.Bool(k) {
			o.Set(k, true)
		}
	}
	for _, k := range [...]string{"exhausted_at", "exhausted_after_turn"} {
		if v := ojson.OrNull(b.String(k)); v != nil {
			o.Set(k, v)
		}
	}
	if o.Len() == 0 {
		return nil
	}
	return o
}

func dashboard(d *ojson.Object) *ojson.Object {
	if !slices.Contains([]string{"running", "pid_only", "stale", "not_running"}, d.String("status")) {
		return nil
	}
	return ojson.NewObject("status", d.String("status"), "pid", integer(d, "pid"),
		"url", ojson.OrNull(d.String("url")), "started_at", ojson.OrNull(d.String("started_at")))
}

// gateSummary returns phase_gate_status as a list.
func gateSummary(gates *ojson.Object) []*ojson.Object {
	return ojson.List(sortedNames(gates.Keys()), func(id string) *ojson.Object {
		return ojson.NewObject("gate_id", id, "status", cmp.Or(gates.String(id), "unknown"))
	})
}

func hookSummary(rows []*ojson.Object) *ojson.Object {
	if len(rows) == 0 {
		return nil
	}
	blocked := 0
	events := &ojson.Object{}
	for _, r := range rows {
		if ojson.Truthy(r.Value("blocked")) || r.String("result") == "blocked" ||
			r.String("orchestrator_action") == "blocked" {
			blocked++
		}
		kind, _ := first(r, "event", "hook_phase").(string)
		if kind == "" {
			kind = "unknown"
		}
		n, _ := events.Int(kind)
		events.Set(kind, n+1)
	}
	return ojson.NewObject("total", len(rows), "blocked", blocked, "events", events)
}

// intake returns the intents that refer to the run.
func (m *runModel) intake() []*ojson.Object {
	var out []*ojson.Object
	var paths []string
	for p := range m.a.Files {
		if strings.HasPrefix(p, pathIntents) {
			paths = append(paths, p)
		}
	}
	for _, p := range sortedNames(paths) {
		d := m.document(p)
		if run := d.String("target_run"); d.String("intent_id") == "" || run == "" ||
			run != m.summary.String("run_id") {
			continue
		}
		o := pick(d, "intent_id", "event_id", "status", "priority", "template", "target_turn", "started_at",
			"updated_at")
		out = append(out, o)
	}
	stamp := func(o *ojson.Object) string { s, _ := first(o, "updated_at", "started_at").(string); return s }
	slices.SortStableFunc(out, func(a, b *ojson.Object) int { return strings.Compare(stamp(a), stamp(b)) })
	return orEmpty(out)
}

func (m *runModel) continuity() *ojson.Object {
	d := m.document(pathSession)
	if d == nil {
		return nil
	}
	o := pick(d, "session_id", "run_id", "started_at", "last_checkpoint_at", "last_turn_id", "last_phase", "last_role",
		"checkpoint_reason")
	mine, theirs := m.summary.String("run_id"), d.String("run_id")
	o.Set("stale_checkpoint", mine != "" && theirs != "" && mine != theirs)
	return o
}

// delegations returns the summary's block, or one derived from history if that is missing or incomplete.
func (m *runModel) delegations() *ojson.Object {
	if d := m.summary.Object("delegation_summary"); d.Has("delegation_chains") {
		return d
	}
	if len(m.history) == 0 {
		return nil
	}
	return restore.DelegationSummary(m.history)
}

// Options are the options of Build.
type Options struct {
	Now     time.Time // time of the report
	AllRuns bool      // include rows of every run in the ledgers, not only of the artifact's own
}
