// Tests of the recovery read model and of role resolution.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestDescribeBlockIsComplete(t *testing.T) {
	for _, on := range blockerSamples {
		s := stateFrom(t, activeStateDoc)
		b := run.DescribeBlock(s, on, "")
		r := b.Recovery
		if b.Category == "" || r.TypedReason == "" || r.RecoveryAction == "" ||
			r.Owner != run.OwnerHuman && r.Owner != run.OwnerOperator {
			t.Errorf("%q: %+v", on, b)
		}
		if r.TurnRetained && b.TurnID == nil {
			t.Errorf("%q retains no turn", on)
		}
		for _, foreign := range []string{"`agentxchain", "run agentxchain"} {
			if strings.Contains(r.RecoveryAction, foreign) {
				t.Errorf("%q: %s", on, r.RecoveryAction)
			}
		}
	}
	s := stateFrom(t, activeStateDoc)
	s.ActiveTurns.Set("turn_c", &run.Turn{TurnID: "turn_c"})
	if b := run.DescribeBlock(s, "policy:p", ""); b.TurnID != nil {
		t.Error("with several turns nobody is guessed")
	}
	if b := run.DescribeBlock(s, "turn:stalled:turn_c", ""); wire.OrEmpty(b.TurnID) != "turn_c" {
		t.Error("the blocker names its turn")
	}
	s.Escalation = ojson.NewObject("from_turn_id", "turn_b")
	if b := run.DescribeBlock(s, "escalation:operator:x", ""); wire.OrEmpty(b.TurnID) != "turn_b" {
		t.Error("the escalation names its turn")
	}
}

func TestRecoveryActionIsSafeToPaste(t *testing.T) {
	if a := run.RecoveryAction("ghost_turn", "",
		"t'; rm -rf ~"); a != `git agentxchain reissue 't'\''; rm -rf ~' --reason ghost` {
		t.Error(a)
	}
	if a := run.RecoveryAction("ghost_turn", "", "--force"); !strings.Contains(a, "'--force'") {
		t.Error(a)
	}
	if a := run.RecoveryAction("policy_escalation", "policy:a\nb"+strings.Repeat("x", 500), ""); strings.Contains(a,
		"\n") || len(a) > 360 {
		t.Error(a)
	}
}

func TestDeriveRecovery(t *testing.T) {
	cfg := twoPhaseConfig()
	if run.DeriveRecovery(inStatus(wire.StatusActive), cfg) != nil || run.DeriveRecovery(nil, cfg) != nil ||
		run.DeriveRecovery(inStatus(wire.StatusCompleted), cfg) != nil {
		t.Error("nobody is waited for")
	}
	v := run.DeriveRecovery(inStatus(wire.StatusPaused), cfg)
	if v.TypedReason != "pending_phase_transition" || v.RecoveryAction != "git agentxchain approve" ||
		wire.OrEmpty(v.Detail) != "g1" {
		t.Errorf("%+v", v)
	}
	both := inStatus(wire.StatusPaused)
	both.PendingRunCompletion = &run.PendingCompletion{Gate: "g2"}
	if v := run.DeriveRecovery(both, cfg); v.TypedReason != "pending_run_completion" {
		t.Errorf("%+v", v)
	}
	// A block at a gate is shown as what it is.
	s := blockedState("gate_action:g1", "make failed")
	s.PendingPhaseTransition = &run.PendingTransition{From: "planning", To: "build", Gate: "g1"}
	if v := run.DeriveRecovery(s, cfg); v.TypedReason != "gate_action_failed" ||
		wire.OrEmpty(v.Detail) != "make failed" {
		t.Errorf("%+v", v)
	}
	// Another implementation's words are shown as they are.
	s.BlockedReason.Recovery.RecoveryAction = "agentxchain approve-transition"
	if v := run.DeriveRecovery(s, cfg); v.RecoveryAction != "agentxchain approve-transition" {
		t.Errorf("%+v", v)
	}
	s.BlockedReason = &run.BlockedReason{}
	if v := run.DeriveRecovery(s, cfg); v.TypedReason != "gate_action_failed" || v.Owner != "human" ||
		v.RecoveryAction == "" {
		t.Errorf("%+v", v)
	}
	s.BlockedReason, s.PendingPhaseTransition, s.BlockedOn = nil, nil, new("what")
	v = run.DeriveRecovery(s, cfg)
	if v.TypedReason != run.TypedUnknown {
		t.Errorf("%+v", v)
	}
	if got := strings.Join(v.Object().Keys(),
		" "); got != "typed_reason owner recovery_action turn_retained detail runtime_guidance" {
		t.Error(got)
	}
	if (*run.RecoveryView)(nil).Object() != nil {
		t.Error("nil view")
	}
}

func TestGuidanceAndNextActions(t *testing.T) {
	cfg := twoPhaseConfig()
	add := func(id, authority, runtime string) {
		cfg.Roles.Set(id, &config.Role{ID: id, WriteAuthority: authority, RuntimeID: runtime, RuntimeType: runtime})
	}
	cfg.Runtimes.Set("api_proxy", &config.Runtime{
		ID:   "api_proxy",
		Type: "api_proxy",
		Raw:  ojson.NewObject("type", "api_proxy"),
	})
	cfg.Runtimes.Set("mcp", &config.Runtime{ID: "mcp", Type: "mcp", Raw: ojson.NewObject("type", "mcp")})
	add("api", wire.Proposed, "api_proxy")
	add("ro", wire.ReviewOnly, "api_proxy")
	add("tool", wire.Authoritative, "mcp")
	add("bad", wire.Authoritative, "api_proxy")
	cfg.WorkflowKit.Phases.Set("planning", []config.Artifact{{
		Path:    "a",
		OwnedBy: "api",
	}, {
		Path:    "b",
		OwnedBy: "ro",
	}, {
		Path:    "c",
		OwnedBy: "tool",
	}, {Path: "d", OwnedBy: "bad"}, {Path: "e", OwnedBy: "dev"}, {Path: "f", OwnedBy: "gone"}})
	s := inStatus(wire.StatusActive)
	if len(NextActions(s, cfg, "")) != 0 {
		t.Error("a healthy run needs no advice")
	}
	s.LastGateFailure = &run.GateFailure{
		GateType:     run.GatePhase,
		GateID:       new("g1"),
		Phase:        "planning",
		MissingFiles: []string{"a", "b", "c", "d", "e", "f", "zz"},
	}
	var codes []string
	for _, g := range run.DeriveGuidance(s, cfg) {
		codes = append(codes, g.Code+":"+g.ArtifactPath)
		if g.Command == "" || g.Reason == "" || g.Phase != "planning" {
			t.Errorf("%+v", g)
		}
	}
	if got := strings.Join(codes,
		" "); got != "invalid_binding:d review_only_remote_dead_end:b proposal_apply_required:a tool_defined_proof_not_strong_enough:c" {
		t.Error(got)
	}
	if n := len(NextActions(s, cfg, "")); n != 4 {
		t.Error(n)
	}
	b := blockedState("human:x", "d")
	if a := NextActions(b, cfg, "hesc_1"); len(a) != 1 ||
		!strings.HasSuffix(a[0].Command, "git agentxchain unblock hesc_1") {
		t.Errorf("%+v", a)
	}
}

func TestNextStep(t *testing.T) {
	cfg := twoPhaseConfig()
	turn := func(status string) *run.State {
		s := inStatus(wire.StatusActive)
		s.ActiveTurns.Set("turn_a", &run.Turn{TurnID: "turn_a", AssignedRole: "pm", Status: wire.TurnRunning})
		s.ActiveTurns.Set("turn_b", &run.Turn{TurnID: "turn_b", AssignedRole: "dev", Status: status})
		return s
	}
	for want, s := range map[string]*run.State{
		"git agentxchain assign":                                              inStatus(wire.StatusIdle),
		"git agentxchain assign pm":                                           inStatus(wire.StatusActive),
		"git agentxchain approve":                                             inStatus(wire.StatusPaused),
		"git agentxchain accept turn_a":                                       turn(wire.TurnDispatched),
		"git agentxchain reissue turn_b":                                      turn(wire.TurnStalled),
		"git agentxchain reject turn_b --reassign":                            turn(wire.TurnConflicted),
		"git agentxchain accept turn_b":                                       turn(wire.TurnFailedAcceptance),
		"Do what the turn asks for, then run: git agentxchain unblock hesc_1": inStatus(wire.StatusBlocked),
	} {
		got := NextStep(s, cfg, "hesc_1")
		if got == nil || got.Command != want || got.Reason == "" {
			t.Errorf("want %q, got %+v", want, got)
		}
	}
	if NextStep(inStatus(wire.StatusCompleted), cfg, "") != nil {
		t.Error("a completed run has no next step")
	}
	if got := NextStep(inStatus(wire.StatusActive), &config.Config{}, ""); got == nil || got.Reason == "" {
		t.Error("no roles")
	}
}

func TestResolveRole(t *testing.T) {
	state := func(f func(*run.State)) *run.State { s := inStatus(wire.StatusActive); f(s); return s }
	strict := twoPhaseConfig()
	strict.Rules.EnforceRouting = true
	noEntry := twoPhaseConfig()
	noEntry.Routing.Set("planning", &config.Route{Phase: "planning"})
	none := &config.Config{}
	for name, tc := range map[string]struct {
		cfg      *config.Config
		s        *run.State
		override string
		role     string
		warnings int
		code     string
	}{
		"entry role": {twoPhaseConfig(), inStatus(wire.StatusActive), "", "pm", 0, ""},
		"recommendation": {twoPhaseConfig(), state(func(s *run.State) { s.NextRecommendedRole = new("dev") }),
			"", "dev", 0, ""},
		"recommendation barred": {twoPhaseConfig(), state(func(s *run.State) { s.NextRecommendedRole = new("qa") }),
			"", "pm", 0, ""},
		"unknown recommended": {twoPhaseConfig(), state(func(s *run.State) { s.NextRecommendedRole = new("gone") }),
			"", "pm", 0, ""},
		"override":          {twoPhaseConfig(), inStatus(wire.StatusActive), "dev", "dev", 0, ""},
		"override outside":  {twoPhaseConfig(), inStatus(wire.StatusActive), "qa", "qa", 1, ""},
		"override enforced": {strict, inStatus(wire.StatusActive), "qa", "", 0, wire.CodeRoleNotRouted},
		"override unknown":  {twoPhaseConfig(), inStatus(wire.StatusActive), "gone", "", 0, wire.CodeUnknownRole},
		"review first": {twoPhaseConfig(), state(func(s *run.State) {
			s.PendingDelegation = &run.DelegationReview{ParentRole: "qa"}
			s.DelegationQueue = []*run.Delegation{{Status: "pending", ToRole: "dev"}}
		}), "", "qa", 0, ""},
		"delegation": {twoPhaseConfig(), state(func(s *run.State) {
			s.DelegationQueue = []*run.Delegation{{Status: "active", ToRole: "pm"}, {Status: "pending", ToRole: "dev"}}
		}), "", "dev", 0, ""},
		"override past review": {twoPhaseConfig(), state(func(s *run.State) {
			s.PendingDelegation = &run.DelegationReview{ParentRole: "qa"}
		}), "dev", "dev", 1, ""},
		"delegation to nobody": {twoPhaseConfig(), state(func(s *run.State) {
			s.DelegationQueue = []*run.Delegation{{
				Status: "pending",
				ToRole: "gone",
			}}
		}), "", "", 0, wire.CodeUnknownRole},
		"charter": {twoPhaseConfig(), state(func(s *run.State) {
			s.NextRecommendedRole = new("dev")
			s.Extra.Set("charter_materialization_pending", ojson.NewObject("charter", "c"))
		}), "", "pm", 0, ""},
		"no entry role": {noEntry, inStatus(wire.StatusActive), "", "pm", 1, ""},
		"no phase":      {twoPhaseConfig(), state(func(s *run.State) { s.Phase = "gone" }), "", "pm", 1, ""},
		"no roles":      {none, inStatus(wire.StatusActive), "", "", 0, wire.CodeInvalidConfig},
	} {
		t.Run(name, func(t *testing.T) {
			role, warnings, err := ResolveRole(tc.cfg, tc.s, tc.override)
			code := ""
			if err != nil {
				code = err.Code
			}
			if role != tc.role || len(warnings) != tc.warnings || code != tc.code {
				t.Errorf("got %q %v %v", role, warnings, err)
			}
		})
	}
}

// TestRecordedWordsStay has the words that a block records: after a change of one, operations recorded with the old
// words would have another outcome, unless the change has its own rule set.
func TestRecordedWordsStay(t *testing.T) {
	for _, c := range []struct{ reason, on, want string }{
		{
			"pending_phase_transition", "",
			"git agentxchain approve",
		},
		{
			"pending_run_completion", "",
			"git agentxchain approve",
		},
		{
			"needs_human", "",
			"Do what the turn asks for, then run: git agentxchain unblock",
		},
		{
			"conflict_loop", "",
			"Let the conflicting turns go one after another: git agentxchain reject turn_1 --reassign",
		},
		{
			"operator_escalation", "",
			"Settle the escalation, then run: git agentxchain unblock",
		},
		{
			"retries_exhausted", "",
			"Find out why the attempts failed, then run: git agentxchain reissue turn_1",
		},
		{
			"policy_escalation", "policy:p",
			"Policy \"p\" stops the turn: send it back (git agentxchain reject turn_1 --reason TEXT), " +
				"relax the policy (git agentxchain config adopt), or take the turn as it is: git agentxchain " +
				"unblock --accept-as-is --reason TEXT",
		},
		{
			"budget_exhausted", "",
			"Raise budget.per_run_max_usd in agentxchain.json, then run: git agentxchain config adopt",
		},
		{
			"timeout", "",
			"git agentxchain unblock",
		},
		{
			"non_progress", "",
			"Change what the gate fails on, then run: git agentxchain unblock",
		},
		{
			"gate_action_failed", "",
			"Make the gate's action succeed, then run: git agentxchain approve",
		},
		{
			"hook_block", "hook:before_gate:h",
			"Mend hook \"h\", then run: git agentxchain approve",
		},
		{
			"hook_block", "hook:before_acceptance:h",
			"To take the turn over hook \"h\"'s no: git agentxchain unblock --accept-as-is --reason TEXT. " +
				"Or mend what it asks for, then run: git agentxchain accept turn_1",
		},
		{
			"hook_block", "hook:after_acceptance:h",
			"Mend hook \"h\", then run: git agentxchain unblock",
		},
		{
			"hook_tamper", "hook:after_dispatch:h",
			"Mend hook \"h\", then run: git agentxchain unblock",
		},
		{
			"dispatch_error", "",
			"Mend what kept the turn from being dispatched, then run: git agentxchain unblock",
		},
		{
			"ghost_turn", "",
			"git agentxchain reissue turn_1 --reason ghost",
		},
		{
			"stale_turn", "",
			"git agentxchain reissue turn_1 --reason stale",
		},
		{
			"unknown", "",
			"Look at git agentxchain status, settle the cause, then run: git agentxchain unblock",
		},
	} {
		if got := run.RecoveryAction(c.reason, c.on, "turn_1"); got != c.want {
			t.Errorf("%s %s: %q, and rule set %d records %q", c.reason, c.on, got, RuleSet, c.want)
		}
	}
}
