// Tests of the load-time repair and of the state check.

package protocol

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"pgregory.net/rapid"
)

// twoPhaseConfig returns a configuration with planning (gate g1, people approve) and build (gate g2).
func twoPhaseConfig() *config.Config {
	c := &config.Config{Template: "generic", Project: config.Project{ID: "demo", Name: "Demo", DefaultBranch: "main"}}
	for _, r := range []*config.Role{
		{
			ID:             "pm",
			Title:          "PM",
			Mandate:        "plan",
			WriteAuthority: wire.ReviewOnly,
			RuntimeID:      "man",
			RuntimeType:    "manual",
		},
		{
			ID:             "dev",
			Title:          "Dev",
			Mandate:        "build",
			WriteAuthority: wire.Authoritative,
			RuntimeID:      "man",
			RuntimeType:    "manual",
		},
		{
			ID:             "qa",
			Title:          "QA",
			Mandate:        "test",
			WriteAuthority: wire.ReviewOnly,
			RuntimeID:      "man",
			RuntimeType:    "manual",
		},
	} {
		c.Roles.Set(r.ID, r)
	}
	c.Runtimes.Set("man", &config.Runtime{ID: "man", Type: "manual"})
	c.Routing.Set("planning", &config.Route{
		Phase:              "planning",
		EntryRole:          "pm",
		AllowedNextRoles:   []string{"pm", "dev", "human"},
		ExitGate:           "g1",
		MaxConcurrentTurns: 1,
	})
	c.Routing.Set("build", &config.Route{
		Phase:              "build",
		EntryRole:          "dev",
		AllowedNextRoles:   []string{"dev", "qa"},
		ExitGate:           "g2",
		MaxConcurrentTurns: 2,
	})
	c.Gates.Set("g1", &config.Gate{ID: "g1", RequiresHuman: true})
	c.Gates.Set("g2", &config.Gate{ID: "g2", RequiresHuman: true})
	limit := 5.0
	c.Budget = &config.Budget{PerRunMaxUSD: &limit, OnExceed: "pause_and_escalate"}
	c.Rules = config.Rules{ChallengeRequired: true, MaxTurnRetries: 2, MaxDeadlockCycles: 2}
	return c
}

var blockerSamples = []string{"human:x", "human:conflict_loop:turn_b", "escalation:operator:y",
	"escalation:retries-exhausted:dev", "policy:p1",
	"budget:exhausted", "timeout:turn", "timeout:phase", "timeout:run", "non_progress", "hook:before_gate:h",
	"hook:before_assignment:h",
	"gate_action:g1", "dispatch:exit-1", "turn:failed_start:turn_b", "turns:failed_start", "turn:stalled:turn_b",
	"turns:stalled",
	"operator_commit_reconcile_refused", "human_approval:g1", "human_approval:zz", "odd", ""}

func TestRepairVersionOne(t *testing.T) {
	s := stateFrom(t,
		`{"schema_version": "1.0", "run_id": "r", "project_id": "p", "status": "active", "phase": "planning", "blocked_on": null, "keep": 1,
		"current_turn": {"turn_id": "t1", "assigned_role": "dev", "status": "running", "attempt": 1, "runtime_id": "m", "odd": true}}`)
	r, notes := run.RepairState(s, nil)
	turn := r.OnlyTurn()
	if r.SchemaVersion != "1.1" || turn == nil || turn.TurnID != "t1" || turn.AssignedSequence != 1 ||
		r.TurnSequence != 1 || len(notes) == 0 {
		t.Fatalf("%v\n%s", notes, r.Encode())
	}
	if _, ok := turn.Extra.Get("odd"); !ok {
		t.Error("the turn lost a member")
	}
	if _, ok := r.Extra.Get("current_turn"); ok {
		t.Error("current_turn is still there")
	}
	if p := run.CheckState(r); len(p) > 0 {
		t.Error(p.Join())
	}
	if s.SchemaVersion != "1.0" || s.ActiveTurns.Len() != 0 {
		t.Error("the input was modified")
	}
	if r, _ := run.RepairState(stateWith(t, `{"current_turn": null}`), nil); len(run.CheckState(r)) > 0 {
		t.Error("a null current_turn is harmless")
	}
	if r, _ := run.RepairState(stateWith(t, `{"current_turn": "t1"}`), nil); len(run.CheckState(r)) != 1 {
		t.Error("a current_turn nobody understands must be refused")
	}
}

func TestRepairBlockedWithoutReason(t *testing.T) {
	for _, tc := range []struct{ on, category, owner, turn string }{
		{"human:x", "needs_human", "human", "turn_b"},
		{"human:conflict_loop:turn_b", "conflict_loop", "human", "turn_b"},
		{"escalation:operator:y", "operator_escalation", "human", "turn_b"},
		{"escalation:retries-exhausted:dev", "retries_exhausted", "human", "turn_b"},
		{"policy:p1", "policy_escalation", "human", "turn_b"},
		{"budget:exhausted", "budget_exhausted", "human", "turn_b"},
		{"timeout:turn", "timeout", "operator", "turn_b"},
		{"non_progress", "non_progress", "human", "turn_b"},
		{"hook:before_gate:h", "hook_block", "human", "turn_b"},
		{"gate_action:g1", "gate_action_failed", "human", "turn_b"},
		{"dispatch:exit-1", "dispatch_error", "human", "turn_b"},
		{"turn:failed_start:turn_b", "ghost_turn", "human", "turn_b"},
		{"turns:stalled", "stale_turn", "human", "turn_b"},
		{"odd", "unknown_block", "human", "turn_b"},
	} {
		r, notes := run.RepairState(stateWith(t, `{"status": "blocked", "blocked_on": "`+tc.on+`"}`), twoPhaseConfig())
		b := r.BlockedReason
		if r.Status != wire.StatusBlocked || b == nil || b.Category != tc.category ||
			b.Recovery.TypedReason != tc.category || b.Recovery.Owner != tc.owner ||
			wire.OrEmpty(b.TurnID) != tc.turn {
			t.Errorf("%s: %+v", tc.on, b)
			continue
		}
		if !strings.Contains(b.Recovery.RecoveryAction, "git agentxchain ") ||
			b.BlockedAt != "2026-01-02T03:04:05.678Z" {
			t.Errorf("%s: action %q at %q", tc.on, b.Recovery.RecoveryAction, b.BlockedAt)
		}
		if p := run.CheckState(r); len(p) > 0 || len(notes) == 0 {
			t.Errorf("%s: %s %v", tc.on, p.Join(), notes)
		}
	}
}

// Row 3: accepting a sibling of a blocking turn left the run blocked on nothing.
func TestRepairLostBlocker(t *testing.T) {
	turn := func(status string) string {
		return `"active_turns": {"turn_z": {"turn_id": "turn_z", "assigned_role": "qa", "status": "running", "attempt": 1, "runtime_id": "m", "assigned_sequence": 1},
			"turn_b": {"turn_id": "turn_b", "assigned_role": "dev", "status": "` + status +
			`", "attempt": 2, "runtime_id": "m", "assigned_sequence": 2}}`
	}
	for _, tc := range []struct{ members, on, turn string }{
		{turn("failed"), "escalation:retries-exhausted:dev", "turn_b"},
		{turn("conflicted"), "human:conflict_loop:turn_b", "turn_b"},
		{turn("failed_start"), "turn:failed_start:turn_b", "turn_b"},
		{turn("stalled"), "turn:stalled:turn_b", "turn_b"},
		{turn("running"), "human:unspecified", ""},
		{`"active_turns": {}`, "human:unspecified", ""},
		{`"active_turns": {}, "escalation": {"source": "operator", "reason": "Ship it?!"}`,
			"escalation:operator:ship-it", ""},
		{`"active_turns": {}, "escalation": {"from_role": "dev", "reason": "x"}`, "escalation:retries-exhausted:dev",
			""},
		{`"active_turns": {}, "budget_status": {"spent_usd": 9, "remaining_usd": -4, "exhausted": true}`,
			"budget:exhausted", ""},
		{`"active_turns": {}, "blocked_reason": {"category": "needs_human", "recovery": {"detail": "pick a name"}}`,
			"human:pick a name", ""},
		{`"active_turns": {}, "blocked_reason": {"category": "gate_action_failed"}, "pending_run_completion": {"gate": "g2"}`, "gate_action:g2", ""},
	} {
		r, _ := run.RepairState(stateWith(t, `{"status": "blocked", "blocked_on": null, `+tc.members+`}`),
			twoPhaseConfig())
		if r.Status != wire.StatusBlocked || wire.OrEmpty(r.BlockedOn) != tc.on ||
			wire.OrEmpty(r.BlockedReason.TurnID) != tc.turn {
			t.Errorf("%s: blocked on %q, turn %q", tc.members, wire.OrEmpty(r.BlockedOn),
				wire.OrEmpty(r.BlockedReason.TurnID))
		}
		if p := run.CheckState(r); len(p) > 0 {
			t.Errorf("%s: %s", tc.members, p.Join())
		}
	}
}

// Row 8: the pending approval does not hide what blocks at a gate.
func TestRepairKeepsSpecificReason(t *testing.T) {
	pending := `"active_turns": {}, "pending_phase_transition": {"from": "planning", "to": "build", "gate": "g1"}`
	reason := func(typed, action string) string {
		return `"blocked_reason": {"category": "` + typed + `", "recovery": {"typed_reason": "` + typed +
			`", "owner": "human", "recovery_action": "` + action +
			`", "turn_retained": false, "detail": "d"}, "blocked_at": "2026-01-02T04:00:00.000Z", "turn_id": null}`
	}
	for _, tc := range []struct {
		members string
		status  wire.Status
		on      string
	}{
		{`"status": "blocked", "blocked_on": "gate_action:g1", ` + reason("gate_action_failed",
			"agentxchain approve-transition") + `, ` + pending, wire.StatusBlocked, "gate_action:g1"},
		{`"status": "blocked", "blocked_on": "hook:before_gate:h", ` + reason("hook_tamper", "x") + `, ` + pending,
			wire.StatusBlocked, "hook:before_gate:h"},
		{`"status": "blocked", "blocked_on": "human_approval:g1", ` + reason("gate_action_failed", "x") + `, ` +
			pending, wire.StatusBlocked, "human_approval:g1"},
		{`"status": "blocked", "blocked_on": "human_approval:g1", ` + pending, wire.StatusPaused, "human_approval:g1"},
		{`"status": "active", "blocked_on": null, ` + pending, wire.StatusPaused, "human_approval:g1"},
		{`"status": "paused", "blocked_on": null, ` + pending, wire.StatusPaused, "human_approval:g1"},
	} {
		s := stateWith(t, "{"+tc.members+"}")
		r, _ := run.RepairState(s, twoPhaseConfig())
		if r.Status != tc.status || wire.OrEmpty(r.BlockedOn) != tc.on {
			t.Errorf("%s:\n got %s on %q", tc.members, r.Status, wire.OrEmpty(r.BlockedOn))
		}
		if tc.status == wire.StatusBlocked &&
			(r.BlockedReason.Recovery.TypedReason != s.BlockedReason.Recovery.TypedReason ||
				r.BlockedReason.Recovery.RecoveryAction != s.BlockedReason.Recovery.RecoveryAction) {
			t.Errorf("%s: reason became %+v", tc.members, r.BlockedReason.Recovery)
		}
		if p := run.CheckState(r); len(p) > 0 {
			t.Errorf("%s: %s", tc.members, p.Join())
		}
	}
}

func TestRepairApprovalPause(t *testing.T) {
	cfg := twoPhaseConfig()
	r, _ := run.RepairState(
		stateWith(t, `{"status": "paused", "active_turns": {}, "blocked_on": "human_approval:g1"}`), cfg)
	if p := r.PendingPhaseTransition; p == nil || p.From != "planning" || p.To != "build" || p.Gate != "g1" ||
		p.RequestedByTurn != "turn_a" {
		t.Errorf("%+v", p)
	}
	r, _ = run.RepairState(stateWith(t,
		`{"status": "paused", "phase": "build", "active_turns": {}, "blocked_on": "human_approval:g2"}`), cfg)
	if p := r.PendingRunCompletion; p == nil || p.Gate != "g2" {
		t.Errorf("%+v", p)
	}
	r, _ = run.RepairState(stateWith(t, `{"status": "paused", "active_turns": {}, "blocked_on": "human_approval:zz"}`),
		cfg)
	if len(run.CheckState(r)) == 0 {
		t.Error("a pause at a gate the phase does not have must be refused")
	}
	for _, on := range []string{"human:x", "escalation:operator:x", "policy:p"} {
		r, _ = run.RepairState(stateWith(t, `{"status": "paused", "blocked_on": "`+on+`"}`), cfg)
		if r.Status != wire.StatusBlocked || r.BlockedReason == nil || len(run.CheckState(r)) > 0 {
			t.Errorf("%s: %s", on, run.CheckState(r).Join())
		}
	}
}

func TestRepairBudget(t *testing.T) {
	cfg := twoPhaseConfig()
	get := func(s *run.State, k string) any { v, _ := s.BudgetStatus.Extra.Get(k); return v }
	r, _ := run.RepairState(stateWith(t, `{"budget_status": {"spent_usd": 6, "remaining_usd": 1}}`), cfg)
	if *r.BudgetStatus.RemainingUSD != -1 || get(r, "exhausted") != true {
		t.Errorf("%s", r.Encode())
	}
	r, _ = run.RepairState(stateWith(t,
		`{"budget_status": {"spent_usd": 1, "remaining_usd": -1, "exhausted": true, "exhausted_at": "x", "zz": 1}}`),
		cfg)
	if *r.BudgetStatus.RemainingUSD != 4 || get(r, "exhausted") != nil || get(r, "exhausted_at") != nil ||
		get(r, "zz") == nil {
		t.Errorf("%s", r.Encode())
	}
	// Rounding differences such as in 0.1+0.2 are not a change.
	r, notes := run.RepairState(
		stateWith(t, `{"budget_status": {"spent_usd": 0.30000000000000004, "remaining_usd": 4.7}}`), cfg)
	if *r.BudgetStatus.RemainingUSD != 4.7 || len(notes) > 0 {
		t.Errorf("%v %v", *r.BudgetStatus.RemainingUSD, notes)
	}
	cfg.Budget = nil
	r, _ = run.RepairState(stateWith(t, `{"budget_status": {"spent_usd": 6, "remaining_usd": 1}}`), cfg)
	if r.BudgetStatus.RemainingUSD != nil {
		t.Error("no limit means nothing is reckoned")
	}

	block := `{"status": "blocked", "active_turns": {}, "blocked_on": "budget:exhausted", "budget_status": {"spent_usd": 6, "remaining_usd": -1, "exhausted": true},
		"blocked_reason": {"category": "budget_exhausted", "recovery": {"typed_reason": "budget_exhausted", "owner": "human", "recovery_action": "ACTION", "turn_retained": false, "detail": "d"},
		"blocked_at": "2026-01-02T04:00:00.000Z", "turn_id": null}}`
	raised := twoPhaseConfig()
	*raised.Budget.PerRunMaxUSD = 10
	r, _ = run.RepairState(stateWith(t, strings.Replace(block, "ACTION", "Raise it, then git agentxchain unblock", 1)),
		raised)
	if a := r.BlockedReason.Recovery.RecoveryAction; a != "git agentxchain unblock" {
		t.Errorf("action %q", a)
	}
	foreign := "Increase budget with agentxchain config"
	r, _ = run.RepairState(stateWith(t, strings.Replace(block, "ACTION", foreign, 1)), raised)
	if rec := r.BlockedReason.Recovery; rec.RecoveryAction != foreign || *rec.Detail != "d" {
		t.Errorf("somebody else's words were replaced: %+v", rec)
	}
}

func TestRepairRecoveryNamesActiveTurn(t *testing.T) {
	doc := `{"status": "blocked", "blocked_on": "escalation:retries-exhausted:dev",
		"blocked_reason": {"category": "retries_exhausted", "recovery": {"typed_reason": "retries_exhausted", "owner": "human", "recovery_action": "ACTION", "turn_retained": true, "detail": null},
		"blocked_at": "2026-01-02T04:00:00.000Z", "turn_id": "turn_old"}}`
	r, _ := run.RepairState(stateWith(t, strings.Replace(doc, "ACTION", "git agentxchain reissue turn_old", 1)), nil)
	if a := r.BlockedReason.Recovery.RecoveryAction; !strings.HasSuffix(a, "reissue turn_b") {
		t.Errorf("action %q", a)
	}
	foreign := "Resolve the escalation, then run agentxchain step --resume"
	r, notes := run.RepairState(stateWith(t, strings.Replace(doc, "ACTION", foreign, 1)), nil)
	if a := r.BlockedReason.Recovery.RecoveryAction; a != foreign || len(notes) > 0 {
		t.Errorf("action %q, notes %v", a, notes)
	}
}

func TestRepairDelegations(t *testing.T) {
	entry := func(child string) string {
		return `{"delegation_id": "del-001", "parent_turn_id": "turn_p", "parent_role": "pm", "to_role": "dev", "charter": "c", "acceptance_contract": ["x"],
			"required_decision_ids": [], "status": "active", "child_turn_id": "` + child +
			`", "created_at": "2026-01-02T03:00:00.000Z"}`
	}
	r, _ := run.RepairState(stateWith(t, `{"delegation_queue": [`+entry("turn_gone")+`]}`), nil)
	if d := r.DelegationQueue[0]; d.Status != "pending" || d.ChildTurnID != nil {
		t.Errorf("%+v", d)
	}
	s := stateWith(t, `{"delegation_queue": [`+entry("turn_gone")+`]}`)
	turn, _ := s.ActiveTurns.Get("turn_b")
	turn.DelegationContext = ojson.NewObject("delegation_id", "del-001", "parent_turn_id", "turn_p")
	r, _ = run.RepairState(s, nil)
	if d := r.DelegationQueue[0]; d.Status != "active" || wire.OrEmpty(d.ChildTurnID) != "turn_b" {
		t.Errorf("%+v", d)
	}
	r, notes := run.RepairState(stateWith(t, `{"delegation_queue": [`+entry("turn_b")+`]}`), nil)
	if d := r.DelegationQueue[0]; wire.OrEmpty(d.ChildTurnID) != "turn_b" || len(notes) > 0 {
		t.Errorf("%+v %v", d, notes)
	}
}

// Any mixture of the repairable kinds of damage becomes valid.
func TestRepairableDamageComesOutValid(t *testing.T) {
	cfg := twoPhaseConfig()
	rapid.Check(t, func(t *rapid.T) {
		s, _ := run.DecodeState([]byte(activeStateDoc))
		turn, _ := s.ActiveTurns.Get("turn_b")
		turn.Status = rapid.SampledFrom(
			[]string{"assigned", "failed", "conflicted", "failed_start", "stalled", "running"}).Draw(t, "turn")
		if rapid.Bool().Draw(t, "no turns") {
			s.ActiveTurns.Delete("turn_b")
		}
		if rapid.Bool().Draw(t, "v1") {
			s.SchemaVersion = rapid.SampledFrom([]string{"1.0", ""}).Draw(t, "version")
			if turn.Status != "" && s.ActiveTurns.Len() > 0 {
				turn.AssignedSequence = 0
			}
		}
		switch rapid.IntRange(0, 4).Draw(t, "damage") {
		case 0: // blocked, parts of the descriptor lost
			s.Status = wire.StatusBlocked
			s.BlockedOn = new(rapid.SampledFrom(blockerSamples).Draw(t, "blocked_on"))
			if rapid.Bool().Draw(t, "partial") {
				s.BlockedReason = &run.BlockedReason{Category: rapid.SampledFrom(
					[]string{"", "needs_human", "hook_tamper", "odd"}).Draw(t, "category")}
			}
		case 1: // a pause that is a block
			s.Status = wire.StatusPaused
			s.BlockedOn = new(rapid.SampledFrom(
				[]string{"human:x", "escalation:operator:y", "policy:p", "budget:exhausted"}).Draw(t, "blocked_on"))
		case 2: // a pending approval under any status
			s.Status = rapid.SampledFrom([]wire.Status{wire.StatusActive, wire.StatusPaused, wire.StatusBlocked}).Draw(
				t, "status")
			s.PendingPhaseTransition = &run.PendingTransition{From: "planning", To: "build", Gate: "g1"}
		case 3: // a pause that lost its pending object
			s.ActiveTurns.Delete("turn_b")
			s.Status = rapid.SampledFrom([]wire.Status{wire.StatusPaused, wire.StatusBlocked}).Draw(t, "status")
			s.BlockedOn = new("human_approval:g1")
		case 4: // a leftover reason
			s.BlockedReason = &run.BlockedReason{}
		}
		r, notes := run.RepairState(s, cfg)
		if p := run.CheckState(r); len(p) > 0 {
			t.Fatalf("%s (%v)\n%s", p.Join(), notes, r.Encode())
		}
		if s.Status == wire.StatusBlocked && r.Status == wire.StatusActive {
			t.Fatal("a repair unblocked a run")
		}
	})
}

func TestRepairLeavesValidStatesAlone(t *testing.T) {
	s := stateFrom(t, activeStateDoc)
	r, notes := run.RepairState(s, twoPhaseConfig())
	if len(notes) > 0 || !bytes.Equal(s.Encode(), r.Encode()) {
		t.Errorf("%v\n%s", notes, r.Encode())
	}
}

func TestCheckState(t *testing.T) {
	reason := `{"category": "c", "recovery": {"typed_reason": "t", "owner": "human", "recovery_action": "a", "turn_retained": false, "detail": null}, "blocked_at": "x", "turn_id": null}`
	turn := func(members string) string {
		return `{"active_turns": {"t": {"turn_id": "t", "assigned_role": "r", "status": "s", "runtime_id": "m", "attempt": 1, "assigned_sequence": 1` + members + `}}}`
	}
	for _, tc := range []struct{ members, fields string }{
		{`{}`, ""},
		{`{"schema_version": "2.0"}`, "schema_version"},
		{`{"run_id": null}`, "run_id"},
		{`{"run_id": " "}`, "run_id"},
		{`{"run_id": null, "status": "idle", "active_turns": {}}`, ""},
		{`{"run_id": null, "status": "blocked", "active_turns": {}, "blocked_on": "human:x", "blocked_reason": ` +
			reason + `}`, ""},
		{`{"project_id": "", "phase": "", "created_at": ""}`, "project_id phase created_at"},
		{`{"status": "done"}`, "status"},
		{`{"status": "failed"}`, ""},
		{`{"turn_sequence": -1}`, "turn_sequence"},
		{turn(""), ""},
		{`{"active_turns": {"t": {}}}`,
			"active_turns.t.turn_id active_turns.t.assigned_role active_turns.t.status active_turns.t.runtime_id active_turns.t.attempt active_turns.t.assigned_sequence"},
		{`{"active_turns": {"t": {"turn_id": "u", "assigned_role": "r", "status": "s", "runtime_id": "m", "attempt": 1, "assigned_sequence": 1}}}`, "active_turns.t.turn_id"},
		{`{"blocked_on": "x"}`, "blocked_on"},
		{`{"blocked_reason": ` + reason + `}`, "blocked_reason"},
		{`{"status": "blocked"}`, "blocked_on blocked_reason"},
		{`{"status": "blocked", "blocked_on": "x", "blocked_reason": {}}`,
			"blocked_reason.category blocked_reason.blocked_at blocked_reason.recovery.typed_reason blocked_reason.recovery.owner blocked_reason.recovery.recovery_action"},
		{`{"status": "blocked", "blocked_on": "x", "blocked_reason": ` + reason + `}`, ""},
		{`{"status": "paused"}`, "status"},
		{`{"status": "paused", "pending_run_completion": {"gate": "g"}}`, ""},
		{`{"pending_phase_transition": {}}`, "pending_phase_transition.to pending_phase_transition.gate"},
		{`{"pending_run_completion": {}, "queued_phase_transition": {}}`,
			"pending_run_completion.gate queued_phase_transition.to"},
		{`{"last_gate_failure": {}}`,
			"last_gate_failure.gate_type last_gate_failure.phase last_gate_failure.failed_at"},
		{`{"last_gate_failure": {"gate_type": "run_completion", "phase": "p", "failed_at": "x"}}`, ""},
		{`{"budget_status": {"spent_usd": -1, "remaining_usd": null}}`, "budget_status.spent_usd"},
		{`{"delegation_queue": [{"delegation_id": "del-001", "parent_turn_id": "t", "to_role": "r", "status": "odd"}]}`, "delegation_queue[0].status"},
	} {
		var fields []string
		for _, p := range run.CheckState(stateWith(t, tc.members)) {
			fields = append(fields, p.Field)
			if p.Code != wire.CodeInvalidState || !strings.HasPrefix(p.Message, p.Field) {
				t.Errorf("%s: %+v", tc.members, p)
			}
		}
		if got := strings.Join(fields, " "); got != tc.fields {
			t.Errorf("%s:\n got %q\nwant %q", tc.members, got, tc.fields)
		}
	}
}
