package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
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

// An agent that fails is told of: its turn is on record as failed, and the run can act.
func TestFailureIsHandedIn(t *testing.T) {
	testrepo.InMemory()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := &proofRun{work: proof.Lifecycle(), out: &Report{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	p.project, err = proof.New(ctx, proof.Config(proof.Gates()))
	must(err)
	defer func() { must(p.project.Close()) }()
	s, err := control.New(ctx, control.Options{Runner: p.project.Runner, TTL: time.Hour, Version: "test"})
	must(err)
	defer s.Close()
	l, err := s.Listen(ctx, "127.0.0.1:0")
	must(err)
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(serving, l, time.Second) }()
	defer func() { stop(); must(<-ended) }()
	conn, err := connect(l.Addr().String(), "", "")
	must(err)
	defer func() { must(conn.Close()) }()
	w := p.worker(conn, "failing")
	broken := errors.New("no model")
	w.do = func(context.Context, *pb.Task) ([]byte, error) { return nil, broken }
	must(w.register(ctx, nil))
	if _, err := w.turn(ctx); !errors.Is(err, broken) {
		t.Fatalf("told %v, want %v", err, broken)
	}
	rows, err := p.project.Rows("history.jsonl")
	must(err)
	if len(rows) != 1 || rows[0]["status"] != wire.ResultFailed {
		t.Fatalf("on record: %v", rows)
	}
}
