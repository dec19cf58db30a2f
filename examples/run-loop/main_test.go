package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func TestProofPasses(t *testing.T) {
	testrepo.Thorough(t)
	r := prove(context.Background(), nil)
	if r.Result != "pass" || r.EventCount != 12 || r.FinalStatus != "completed" || r.RunID == "" {
		t.Fatalf("%+v", r)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"runner", "runner_interface_version", "result", "stop_reason", "turns_executed",
		"roles", "gates_approved", "turn_history", "rejection_count", "event_types", "event_count", "errors"} {
		if _, ok := doc[key]; !ok {
			t.Errorf("the report lacks %s", key)
		}
	}
}

// The proof must fail when what it proves does not hold.
func TestProofFails(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.InMemory()
	for name, spoil := range map[string]func(*loop.Options){
		"gates held":          func(o *loop.Options) { o.ApproveGate = nil },
		"too few turns":       func(o *loop.Options) { o.MaxTurns = 1 },
		"nothing left to say": func(o *loop.Options) { o.OnEvent = nil },
		"no rejection": func(o *loop.Options) {
			inner := o.Dispatch
			o.Dispatch = func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
				turn := *d.Turn
				turn.Attempt = 2
				d.Turn = &turn
				return inner(ctx, d)
			}
		},
		"an agent that brings nothing": func(o *loop.Options) {
			o.Dispatch = func(context.Context, *loop.Dispatch) *runtimes.Outcome { return nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			if r := prove(context.Background(), spoil); r.Result != "fail" || len(r.Errors) == 0 {
				t.Fatalf("%+v", r)
			}
		})
	}
}
