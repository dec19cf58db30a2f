// The API for the state: state, continuity, gate actions, artifacts, limits.

package dashboard

import (
	"cmp"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// unusable answers with an error for a project whose run cannot be read.
func (a *ask) unusable() bool {
	switch {
	case !a.s.Governed:
		apiError(a.w, http.StatusNotFound, "config_missing", "There is no "+wire.ConfigPath+" here.")
	case a.s.SightErr != nil:
		id := "state_unreadable"
		if c := protocolError(a.s.SightErr); c != nil {
			id = c.code
		}
		apiError(a.w, http.StatusInternalServerError, id, a.s.SightErr.Error())
	case a.s.Sight == nil:
		apiError(a.w, http.StatusNotFound, "state_missing", "There is no "+string(wire.DocState)+" here.")
	default:
		return false
	}
	return true
}

// state answers GET /api/state: the state as it is read, with what follows from it. Nothing is
// reconciled.
func (a *ask) state() {
	if !a.m.has(string(wire.DocState)) {
		noResource(a.w)
		return
	}
	if a.unusable() {
		return
	}
	si := a.s.Sight
	st, cfg := si.View.State, si.View.Config
	doc := ojson.Marshal(st).Clone()
	guidance := (&agentrun.RecoveryView{Guidance: agentrun.DeriveGuidance(st, cfg)}).Object().Array("runtime_guidance")
	doc.Set("runtime_guidance", append([]any{}, guidance...))
	actions := []any{}
	if a.srv.opt.Replay == nil && st.Status != wire.StatusIdle && st.Status != wire.StatusActive &&
		st.Status != wire.StatusCompleted {
		for _, n := range protocol.NextActions(st, cfg, si.Escalation.String("escalation_id")) {
			actions = append(actions, object("command", n.Command, "reason", n.Reason))
		}
	}
	doc.Set("next_actions", actions)
	progress := object()
	for id := range st.ActiveTurns.All() {
		if p := runtimes.ProgressPath(id); p != "" {
			if o := a.m.object(p); o != nil {
				progress.Set(id, o)
			}
		}
	}
	doc.Set("dispatch_progress", progress)
	writeJSON(a.w, http.StatusOK, doc)
}

// continuity answers GET /api/continuity, null without a checkpoint.
func (a *ask) continuity() any {
	c := a.m.object(string(wire.DocSession))
	const report = ".agentxchain/SESSION_RECOVERY.md"
	var recovery any
	if a.m.has(report) {
		recovery = report
	}
	if c == nil && recovery == nil {
		return nil
	}
	var checkpoint, command, why, detail any
	stale, drift := false, any(nil)
	warnings := []any{}
	if c != nil {
		checkpoint = c
		if si := a.s.Sight; si != nil && a.srv.opt.Replay == nil {
			run := si.View.State.Run()
			stale = run != "" && c.String("run_id") != "" && c.String("run_id") != run
			base := c.Object("baseline_ref").String("git_head")
			if si.Head != "" && base != "" {
				drift = si.Head != base
				if si.Head != base {
					warnings = append(warnings,
						"HEAD is "+short(si.Head)+", and was "+short(base)+" at the checkpoint")
				}
			}
			if n := si.Next; n != nil {
				command, why, detail = n.Command, "next_action", n.Reason
			}
		}
	}
	return object("checkpoint", checkpoint, "stale_checkpoint", stale, "recovery_report_path", recovery,
		"restart_recommended", false, "recommended_command", command, "recommended_reason", why,
		"recommended_detail", detail, "drift_detected", drift, "drift_warnings", warnings)
}

// gateActions answers GET /api/gate-actions: those of the pending gate.
func (a *ask) gateActions() any {
	out := object("configured", []any{}, "latest_attempt", nil)
	if a.s.Sight == nil {
		return out
	}
	st, cfg := a.s.Sight.View.State, a.s.Sight.View.Config
	w := st.Waiting()
	if w == nil {
		return out
	}
	list := []any{}
	for i, x := range cfg.Raw.Object("gates").Object(w.Gate).Objects("gate_actions") {
		limit, ok := x.Int("timeout_ms")
		if !ok {
			limit = 900_000
		}
		list = append(list, object("index", i+1, "label", ojson.OrNull(x.String("label")), "run", x.String("run"),
			"timeout_ms", limit))
	}
	out.Set("configured", list)
	out.Set("latest_attempt", a.lastAttempt(w.Gate, w.Type))
	return out
}

// lastAttempt returns the outcome of a gate's actions when they were last run.
func (a *ask) lastAttempt(gate, kind string) any {
	rows := a.m.decisions.entries()
	var picked []entry
	for i := len(rows) - 1; i >= 0 && len(picked) < 200; i-- {
		if rows[i].Kind == "gate_action" && rows[i].Ref == gate {
			picked = append(picked, rows[i])
		}
	}
	full := a.m.decisions.decode(picked)
	if len(full) == 0 {
		return nil
	}
	id, status, at := full[0].String("attempt_id"), "succeeded", full[0].String("timestamp")
	actions := []*ojson.Object{}
	for _, o := range full {
		if o.String("attempt_id") == id {
			actions = append(actions, o)
			at = o.String("timestamp")
			if o.String("status") != "succeeded" {
				status = "failed"
			}
		}
	}
	slices.Reverse(actions)
	return object("attempt_id", ojson.OrNull(id), "gate_id", gate, "gate_type", kind, "status", status,
		"attempted_at", ojson.OrNull(at), "actions", actions)
}

// kit answers GET /api/workflow-kit-artifacts: those of the phase, and whether they exist now.
func (a *ask) kit() {
	if a.unusable() {
		return
	}
	st, cfg := a.s.Sight.View.State, a.s.Sight.View.Config
	raw := cfg.Raw.Object("workflow_kit")
	if raw == nil && !cfg.WorkflowKit.Phases.Has(st.Phase) {
		writeJSON(a.w, http.StatusOK, object("ok", true, "phase", ojson.OrNull(st.Phase), "artifacts", nil))
		return
	}
	list, _ := cfg.WorkflowKit.Phases.Get(st.Phase)
	entryRole := any(nil)
	if r := cfg.Route(st.Phase); r != nil && r.EntryRole != "" {
		entryRole = r.EntryRole
	}
	out := []*ojson.Object{}
	for _, x := range list {
		owner, how := any(x.OwnedBy), "explicit"
		if x.OwnedBy == "" {
			owner, how = entryRole, "entry_role"
		}
		_, err := a.m.root.Stat(filepath.FromSlash(x.Path))
		out = append(out, object("path", x.Path, "required", x.Required, "semantics", ojson.OrNull(x.Semantics),
			"owned_by", owner, "owner_resolution", how, "exists", err == nil))
	}
	slices.SortStableFunc(out, func(x, y *ojson.Object) int {
		return cmp.Or(restore.Collate(x.String("path"), y.String("path")), 0)
	})
	writeJSON(a.w, http.StatusOK, object("ok", true, "phase", ojson.OrNull(st.Phase), "artifacts", out))
}

// timeouts answers GET /api/timeouts.
func (a *ask) timeouts() {
	if a.unusable() {
		return
	}
	st, cfg := a.s.Sight.View.State, a.s.Sight.View.Config
	events := a.ledgerRows("timeout")
	if cfg.Timeouts == nil {
		writeJSON(a.w, http.StatusOK,
			object("ok", true, "configured", false, "config", nil, "live", nil, "live_context", nil, "events", events))
		return
	}
	writeJSON(a.w, http.StatusOK, timeoutsOf(object("ok", true), st, cfg, a, events))
}

func timeoutsOf(doc *ojson.Object, st *agentrun.State, cfg *config.Config, a *ask,
	events []*ojson.Object) *ojson.Object {
	doc.Set("configured", true)
	doc.Set("config", timeoutConfig(cfg))
	doc.Set("live", liveTimeouts(st, cfg, a))
	budget := []*ojson.Object{}
	if st.Status == wire.StatusActive || st.Status == wire.StatusPaused {
		for _, b := range limits.TimeoutBudgets(cfg, st, st.OnlyTurn(), a.now) {
			budget = append(budget, b.Object())
		}
	}
	doc.Set("budget", budget)
	kind, at := any(nil), any(nil)
	if w := st.Waiting(); w != nil {
		kind, at = w.Type, ojson.OrNull(w.At)
	}
	doc.Set("live_context", object("awaiting_approval", kind != nil, "pending_gate_type", kind, "requested_at", at))
	doc.Set("events", events)
	return doc
}

func timeoutConfig(cfg *config.Config) *ojson.Object {
	t := cfg.Timeouts
	number := func(f *float64) any {
		if f == nil {
			return nil
		}
		return ojson.Float(*f)
	}
	overrides := []*ojson.Object{}
	for _, p := range cfg.Phases() {
		if r := cfg.Route(p); r != nil && (r.TimeoutMinutes != nil || r.TimeoutAction != "") {
			overrides = append(overrides, object("phase", p, "timeout_minutes", number(r.TimeoutMinutes),
				"timeout_action", ojson.OrNull(r.TimeoutAction)))
		}
	}
	return object("per_turn_minutes", number(t.PerTurn), "per_phase_minutes", number(t.PerPhase),
		"per_run_minutes", number(t.PerRun), "action", cmp.Or(t.Action, config.TimeoutEscalate),
		"phase_overrides", overrides)
}

func liveTimeouts(st *agentrun.State, cfg *config.Config, a *ask) *ojson.Object {
	exceeded, warnings := []*ojson.Object{}, []*ojson.Object{}
	if st.Status == wire.StatusActive || st.Status == wire.StatusPaused {
		for _, h := range limits.EvaluateTimeouts(cfg, st, st.OnlyTurn(), a.now) {
			if h.Action == config.TimeoutWarn {
				warnings = append(warnings, h.Object())
			} else {
				exceeded = append(exceeded, h.Object())
			}
		}
	}
	return object("exceeded", exceeded, "warnings", warnings)
}

// ledgerRows returns the newest rows of the decision ledger whose type has the prefix, in their
// order.
func (a *ask) ledgerRows(prefix string) []*ojson.Object {
	rows := a.m.decisions.entries()
	var picked []entry
	for i := len(rows) - 1; i >= 0 && len(picked) < 500; i-- {
		if len(rows[i].Kind) >= len(prefix) && rows[i].Kind[:len(prefix)] == prefix {
			picked = append(picked, rows[i])
		}
	}
	slices.Reverse(picked)
	return append([]*ojson.Object{}, a.m.decisions.decode(picked)...)
}
