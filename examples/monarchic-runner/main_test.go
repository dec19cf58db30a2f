package main

import (
	"context"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
)

func TestProofPasses(t *testing.T) {
	r := prove(context.Background(), nil)
	if r.Result != "pass" || r.TurnsExecuted != 3 || r.FinalStatus != "completed" ||
		r.LateOutcome != "step_already_terminal" {
		t.Fatalf("%+v", r)
	}
}

// The proof must fail when what it proves does not hold: here the silent runner never
// loses its turn.
func TestProofFails(t *testing.T) {
	testrepo.InMemory()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if r := prove(ctx, func(o *control.Options) { o.TTL = time.Hour }); r.Result != "fail" || len(r.Errors) == 0 {
		t.Fatalf("%+v", r)
	}
}
