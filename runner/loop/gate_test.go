package loop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// twoPhases configures a run of two phases with a person at both gates.
func twoPhases(cfg *ojson.Object) {
	phase := func(gate string) *ojson.Object {
		return ojson.NewObject("entry_role", "dev", "allowed_next_roles", []string{"dev", "human"}, "exit_gate", gate)
	}
	cfg.Set("routing", ojson.NewObject("build", phase("build_ok"), "ship", phase("ship_ok")))
	cfg.Set("gates", ojson.NewObject("build_ok", ojson.NewObject("requires_human_approval", true),
		"ship_ok", ojson.NewObject("requires_human_approval", true)))
}

func asks(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
	if d.View.State.Phase == "build" {
		return returned(d.Turn, "phase_transition_request", "ship")
	}
	return returned(d.Turn, "run_completion_request", true, "proposed_next_role", "human")
}

func TestGates(t *testing.T) {
	for name, c := range map[string]struct {
		approve  func(context.Context, loop.GateRequest) (bool, error)
		stop     loop.StopReason
		gates    int
		last     string
		said     string
		finished bool
	}{
		"nobody to ask": {nil, loop.GateHeld, 0, "gate_held", "", false},
		"held": {func(context.Context, loop.GateRequest) (bool, error) { return false, nil }, loop.GateHeld,
			0, "gate_held", "", false},
		"approved": {func(context.Context, loop.GateRequest) (bool, error) { return true, nil }, loop.Completed,
			2, "completed", "", true},
		"asking fails": {func(context.Context, loop.GateRequest) (bool, error) {
			return false,
				errors.New("no terminal")
		}, loop.Blocked, 0, "gate_paused", "no terminal", false},
		"asking panics": {func(context.Context, loop.GateRequest) (bool, error) { panic("askfail") }, loop.Blocked, 0,
			"gate_paused", "askfail", false},
		"only the first": {func(_ context.Context, g loop.GateRequest) (bool,
			error) {
			return g.Type == "phase_transition", nil
		}, loop.GateHeld, 1, "gate_held", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, 1, []string{"dev"}, twoPhases)
			res, types := run(p, loop.Options{Dispatch: asks, ApproveGate: c.approve})
			if res.StopReason != c.stop || res.OK != c.finished || res.GatesApproved != c.gates ||
				types[len(types)-1] != c.last || !strings.Contains(strings.Join(res.Errors, "\n"), c.said) {
				t.Fatalf("%+v %v", res, types)
			}
			if c.stop == loop.Blocked && res.State.Status != wire.StatusPaused {
				t.Fatalf("the run is %s", res.State.Status)
			}
			if res, types := run(p, loop.Options{
				Dispatch:    asks,
				ApproveGate: func(context.Context, loop.GateRequest) (bool, error) { return true, nil },
			}); res.StopReason != loop.Completed || !res.OK || !slices.Contains(types, "completed") {
				t.Fatalf("going on: %+v %v", res, types)
			}
			if res, _ := run(p, loop.Options{Dispatch: asks}); res.StopReason != loop.Completed ||
				res.TurnsExecuted != 0 {
				t.Fatalf("a finished run: %+v", res)
			}
			before := *p.state().RunID
			if res, _ := run(p, loop.Options{Dispatch: asks, NewRun: true}); res.StopReason != loop.GateHeld ||
				*res.State.RunID == before {
				t.Fatalf("another run: %+v", res)
			}
		})
	}
}

// The loop does not even begin with a configuration that can never pass its own gates.
func TestAdmission(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, func(cfg *ojson.Object) {
		twoPhases(cfg)
		cfg.Object("roles").Object("dev").Set("write_authority", "review_only")
		cfg.Object("roles").Object("dev").Set("runtime", "api")
		cfg.Object("runtimes").Set("api",
			ojson.NewObject("type", "api_proxy", "provider", "anthropic", "model", "m", "auth_env", "KEY"))
		cfg.Object("gates").Object("build_ok").Set("requires_files", []string{"docs/build.md"})
	})
	res, types := run(p, loop.Options{Dispatch: asks})
	if res.StopReason != loop.AdmissionRejected || res.State != nil || len(types) != 0 ||
		!strings.HasPrefix(strings.Join(res.Errors, ""), "Admission control: ADM-00") {
		t.Fatalf("%+v", res)
	}
	if s := p.state(); s.Status != wire.StatusIdle {
		t.Fatalf("the run is %s", s.Status)
	}
}

func TestCostLimit(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	res, _ := run(p, loop.Options{
		MaxCostUSD: 0.5,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			return returned(d.Turn, "cost", ojson.NewObject("usd", 0.2))
		},
	})
	if res.StopReason != loop.MaxTurnsReached || res.Cause != loop.CauseCostLimit || res.TurnsExecuted != 3 {
		t.Fatalf("%+v", res)
	}
}

func TestPriorityPreempts(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	p.write(".agentxchain/intake/intents/intent_1.json",
		`{"intent_id": "intent_1", "status": "approved", "priority": "p0"}`)
	p.write(".agentxchain/intake/injected-priority.json", `{"intent_id": "intent_1", "priority": "p0"}`)
	ok := func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome { return returned(d.Turn) }
	res, types := run(p, loop.Options{Dispatch: ok})
	if res.StopReason != loop.PriorityPreempted || res.PreemptedBy != "intent_1" ||
		!slices.Equal(types, []string{"priority_injected"}) {
		t.Fatalf("%+v %v", res, types)
	}
	// An intent approved for the run is handed out to the next assigned turn.
	p.write(".agentxchain/intake/intents/intent_1_aaaa.json",
		`{"intent_id": "intent_1_aaaa", "status": "approved", "priority": "p0", "charter": "c",
		"cross_run_durable": true, "acceptance_contract": ["answer this important question"]}`)
	p.write(".agentxchain/intake/injected-priority.json", `{"intent_id": "intent_1_aaaa", "priority": "p0"}`)
	given := ""
	res, types = run(p, loop.Options{
		MaxTurns: 1,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			given = d.Turn.IntakeContext.String("intent_id")
			return returned(d.Turn, "intent_response", []*ojson.Object{
				ojson.NewObject("item", "answer this important question", "status", "addressed", "detail", "d"),
			})
		},
	})
	if given != "intent_1_aaaa" || res.StopReason != loop.MaxTurnsReached || res.TurnsExecuted != 1 ||
		types[0] != "priority_injected" {
		t.Fatalf("%q %+v %v", given, res, types)
	}
	for _, marker := range []string{`{"intent_id": "../../secret"}`, `{"intent_id": "intent_2"}`, `[]`, `{`} {
		p.write(".agentxchain/intake/injected-priority.json", marker)
		if res, _ := run(p, loop.Options{Dispatch: ok, MaxTurns: 1}); res.StopReason != loop.MaxTurnsReached {
			t.Fatalf("%s: %+v", marker, res)
		}
	}
}
