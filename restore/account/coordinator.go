// The model of an initiative and its repositories (docs/reports.md#what-a-report-says).

package account

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// coordinatorModel derives the report of a coordinator artifact.
type coordinatorModel struct {
	*runModel                   // from the coordinator's own files
	super     *ojson.Object     // multirepo/state.json
	own       []*ojson.Object   // its history
	decisions []*ojson.Object   // its decision ledger
	ledger    []*ojson.Object   // of the barriers
	children  []childRun        // sorted by id
	status    map[string]string // known status of each repository
}

// childRun is a repository with the coordinator's record of it.
type childRun struct {
	Repo
	summary           *ojson.Object // of its export, nil without one
	label, run, phase string        // the coordinator's record
}

func newCoordinatorModel(a *Artifact, opt Options) *coordinatorModel {
	m := &coordinatorModel{runModel: newRunModel(a, opt), status: make(map[string]string)}
	m.super = m.document(multiState)
	mine := func(rows []*ojson.Object) []*ojson.Object {
		id := m.summary.String("super_run_id")
		return slices.DeleteFunc(slices.Clone(rows), func(r *ojson.Object) bool {
			other := r.String("super_run_id")
			if other == "" {
				other = r.Object("causation").String("super_run_id")
			}
			return !opt.AllRuns && id != "" && other != "" && other != id
		})
	}
	m.own, m.decisions, m.ledger = mine(m.rows(multiHistory)), mine(m.rows(multiDecisions)),
		mine(m.rows(multiBarrierLedger))
	for _, r := range a.Repos {
		rec := m.super.Object("repo_runs").Object(r.ID)
		c := childRun{Repo: r, label: rec.String("status"), run: rec.String("run_id"), phase: rec.String("phase")}
		if c.label == "" {
			c.label = m.summary.Object("repo_run_statuses").String(r.ID)
		}
		if r.OK && r.Export != nil {
			c.summary = r.Export.Head.Object("summary")
		}
		m.children = append(m.children, c)
		m.status[r.ID] = RepoStatus(r, c.label)
	}
	return m
}

// RepoStatus returns a repository's status: its own status takes precedence over the coordinator's label.
func RepoStatus(r Repo, label string) string {
	if r.OK && r.Export != nil {
		if summary := r.Export.Head.Object("summary"); summary != nil {
			return cmp.Or(summary.String("status"), "unknown")
		}
	}
	return normalLabel(label)
}

func normalLabel(label string) string {
	switch label {
	case "linked", "initialized":
		return "active"
	case "":
		return "unknown"
	}
	return label
}

func (m *coordinatorModel) subject() *ojson.Object {
	c := m.a.Head.Object("coordinator")
	o := ojson.NewObject("kind", KindCoordinator,
		"coordinator", ojson.NewObject("project_id", orNull(c.Value("project_id")),
			"project_name", orNull(c.Value("project_name")), "schema_version", orNull(c.Value("schema_version")),
			"repo_count", count(c, "repo_count"), "workstream_count", count(c, "workstream_count")))
	o.Set("run", m.superRun())
	o.Set("coordinator_timeline", m.timeline())
	o.Set("aggregated_event_timeline", m.aggregated())
	o.Set("barrier_summary", m.barriers())
	o.Set("barrier_ledger_timeline", m.transitions())
	sections := ledgerSections(m.decisions, true)
	o.Set("decision_digest", sections.Value("decisions"))
	for _, k := range [...]string{"approval_policy_events", "governance_events", "timeout_events"} {
		o.Set(k, sections.Value(k))
	}
	o.Set("recovery_report", m.recoveryReport())
	o.Set("repos", m.repos())
	o.Set("artifacts", ojson.NewObject("history_entries", count(m.summary, "history_entries"),
		"decision_entries", count(m.summary, "decision_entries")))
	return o
}

func (m *coordinatorModel) superRun() *ojson.Object {
	of := func(key string) any {
		if v := first(m.super, key); v != nil {
			return v
		}
		return orNull(m.summary.Value(key))
	}
	var blocked any
	switch v := m.super.Value("blocked_reason").(type) {
	case string:
		blocked = orNull(v)
	case *ojson.Object:
		blocked = first(v, "reason", "category")
	}
	var gate *ojson.Object
	if g := m.super.Object("pending_gate"); g.String("gate") != "" && g.String("gate_type") != "" {
		gate = pick(g, "gate", "gate_type")
		for _, k := range [...]string{"from", "to", "required_repos", "human_barriers", "requested_at"} {
			if v := g.Value(k); ojson.Truthy(v) {
				gate.Set(k, v)
			}
		}
	}
	created, completed := any(nil), any(nil)
	for _, r := range m.own {
		switch r.String("type") {
		case "run_initialized":
			if created == nil {
				created = ojson.OrNull(r.String("timestamp"))
			}
		case "run_completed":
			completed = ojson.OrNull(r.String("timestamp"))
		}
	}
	if created == nil {
		created = ojson.OrNull(m.super.String("created_at"))
	}
	if status, _ := of("status").(string); status != "completed" {
		completed = nil
	} else if completed == nil {
		completed = ojson.OrNull(m.super.String("updated_at"))
	}
	latest := recent(m.asEvents(), m.opt.Now)
	if n := len(m.own); n > 0 {
		latest.Object("latest_event").Set("summary", historySummary(m.own[n-1]))
	}
	mismatches, drifts := m.disagreements()
	counts := &ojson.Object{}
	good := 0
	for _, c := range m.children {
		n, _ := counts.Int(m.status[c.ID])
		counts.Set(m.status[c.ID], n+1)
		if c.OK {
			good++
		}
	}
	return ojson.NewObject("super_run_id", of("super_run_id"), "status", of("status"), "phase", of("phase"),
		"blocked_reason", blocked, "pending_gate", gate, "run_id_mismatches", mismatches, "repo_status_drifts", drifts,
		"terminal_observability_note", m.note(mismatches, drifts), "recent_coordinator_events", latest,
		"recent_child_repo_events", recent(m.childEvents(), m.opt.Now),
		"next_actions", m.nextActions(blocked, gate, mismatches, drifts), "created_at", created,
		"completed_at", completed, "duration_seconds", seconds(created, completed),
		"barrier_count", count(m.summary, "barrier_count"), "repo_status_counts", counts, "repo_ok_count", good,
		"repo_error_count", len(m.children)-good)
}

// disagreements returns the repositories on another run, or in another status, than the coordinator has recorded.
func (m *coordinatorModel) disagreements() (mismatches, drifts []*ojson.Object) {
	for _, c := range m.children {
		if c.summary == nil {
			continue
		}
		if run := c.summary.String("run_id"); run != "" && c.run != "" && run != c.run {
			mismatches = append(mismatches,
				ojson.NewObject("repo_id", c.ID, "expected_run_id", c.run, "actual_run_id", run))
		}
		if label, own := normalLabel(c.label), m.status[c.ID]; label != "unknown" && own != "unknown" && label != own {
			drifts = append(drifts, ojson.NewObject("repo_id", c.ID, "coordinator_status", label, "repo_status", own))
		}
	}
	return orEmpty(mismatches), orEmpty(drifts)
}

func (m *coordinatorModel) completed() bool {
	status, _ := first(m.super, "status").(string)
	return status == "completed" || status == "" && m.summary.String("status") == "completed"
}

func (m *coordinatorModel) note(mismatches, drifts []*ojson.Object) any {
	if !m.completed() || len(mismatches)+len(drifts) == 0 {
		return nil
	}
	what := "status of a repository differs"
	switch {
	case len(mismatches) > 0 && len(drifts) > 0:
		what = "run and status of a repository differ"
	case len(mismatches) > 0:
		what = "run of a repository differs"
	}
	return "The initiative is completed, so there is nothing to do, but the " + what + " from its record."
}

func (m *coordinatorModel) nextActions(blocked any, gate *ojson.Object,
	mismatches, drifts []*ojson.Object) []*ojson.Object {
	out := []*ojson.Object{}
	add := func(code, command, reason string) {
		out = append(out, ojson.NewObject("code", code, "command", "git agentxchain multi "+command, "reason", reason))
	}
	status, _ := first(m.super, "status").(string)
	if status == "" {
		status = m.summary.String("status")
	}
	if status == "completed" {
		return out
	}
	pending := func() {
		if gate != nil {
			add("pending_gate", "approve-gate", fmt.Sprintf("Gate %s waits for a person.", gate.String("gate")))
		}
	}
	repair, code := "resync", "resync"
	if status == "blocked" {
		repair, code = "resume", "resume"
	}
	switch {
	case len(mismatches) > 0:
		for _, x := range mismatches {
			add("repo_run_id_mismatch", repair, fmt.Sprintf("Repository %s is on run %s, the initiative expects %s.",
				x.String("repo_id"), x.String("actual_run_id"), x.String("expected_run_id")))
		}
		pending()
	case len(drifts) > 0:
		var names []string
		for _, x := range drifts {
			names = append(names, x.String("repo_id"))
		}
		add(code, repair, "The record of these repositories is behind: "+strings.Join(names, ", ")+".")
		pending()
	case status == "blocked":
		reason := "The initiative is blocked."
		if s, ok := blocked.(string); ok {
			reason = "The initiative is blocked: " + s
		}
		add("resume", "resume", reason)
		pending()
	case gate != nil:
		pending()
	case status == "active" || status == "paused":
		add("step", "step", "The initiative can go on.")
	}
	return out
}

// repos returns the repositories with the sections of their runs.
func (m *coordinatorModel) repos() []*ojson.Object {
	out := []*ojson.Object{}
	for _, c := range m.children {
		project := &ojson.Object{}
		run, phase := orNull(c.run), orNull(c.phase)
		if c.summary != nil {
			project = c.Export.Head.Object("project")
			run, phase = orNull(c.summary.Value("run_id")), orNull(c.summary.Value("phase"))
		}
		o := ojson.NewObject("repo_id", c.ID, "path", orNull(c.Path), "ok", c.OK, "status", m.status[c.ID],
			"run_id", run, "phase", phase, "project_id", ojson.OrNull(project.String("id")),
			"project_name", ojson.OrNull(project.String("name")), "error", orNull(c.Error))
		if c.OK && c.Export != nil {
			r := newRunModel(c.Export, m.opt).run()
			for _, k := range [...]string{"turns", "decisions", "approval_policy_events", "governance_events",
				"gate_failures", "timeout_events", "hook_summary", "gate_summary", "recovery_summary", "continuity",
				"blocked_on", "cost_summary", "objections", "approvals", "phases"} {
				o.Set(k, r.Value(k))
			}
		}
		out = append(out, o)
	}
	return out
}

// barriers returns the barriers, sorted by id.
func (m *coordinatorModel) barriers() []*ojson.Object {
	all := m.document(multiBarriers)
	out := []*ojson.Object{}
	for _, id := range sortedNames(all.Keys()) {
		b := all.Object(id)
		o := ojson.NewObject("barrier_id", id, "workstream_id", ojson.OrNull(b.String("workstream_id")),
			"type", ojson.OrNull(b.String("type")), "status", cmp.Or(b.String("status"), "unknown"),
			"required_repos", texts(b, "required_repos"), "satisfied_repos", texts(b, "satisfied_repos"))
		if required := b.Object("required_decision_ids_by_repo"); required != nil {
			o.Set("required_decision_ids_by_repo", required)
			o.Set("satisfied_decision_ids_by_repo", m.satisfied(b.String("workstream_id"), required))
		}
		out = append(out, o)
	}
	return out
}

// satisfied returns the required decisions that accepted turns contain.
func (m *coordinatorModel) satisfied(workstream string, required *ojson.Object) *ojson.Object {
	out := &ojson.Object{}
	for _, repo := range required.Keys() {
		have := []string{}
		for _, r := range m.own {
			if r.String("type") != "acceptance_projection" || r.String("repo_id") != repo ||
				r.String("workstream_id") != workstream {
				continue
			}
			for _, id := range ids(r, "decisions") {
				if slices.Contains(required.Strings(repo), id) && !slices.Contains(have, id) {
					have = append(have, id)
				}
			}
		}
		out.Set(repo, have)
	}
	return out
}

func (m *coordinatorModel) transitions() []*ojson.Object {
	out := []*ojson.Object{}
	for _, r := range m.ledger {
		if r.String("type") != "barrier_transition" {
			continue
		}
		c := r.Object("causation")
		o := pick(r, "barrier_id", "timestamp", "previous_status", "new_status")
		o.Set("summary", fmt.Sprintf("%s: %s -> %s", cmp.Or(r.String("barrier_id"), "a barrier"),
			cmp.Or(r.String("previous_status"), "unknown"), cmp.Or(r.String("new_status"), "unknown")))
		o.Set("workstream_id", ojson.OrNull(c.String("workstream_id")))
		o.Set("repo_id", ojson.OrNull(c.String("repo_id")))
		o.Set("trigger", first(c, "trigger", "gate_type"))
		out = append(out, o)
	}
	return out
}
