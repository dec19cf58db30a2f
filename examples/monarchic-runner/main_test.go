package main

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestProofPasses(t *testing.T) {
	testrepo.Serving(t)
	r := prove(context.Background(), nil)
	if r.Result != "pass" || r.TurnsExecuted != 3 || r.FinalStatus != "completed" ||
		r.LateOutcome != "step_already_terminal" {
		t.Fatalf("%+v", r)
	}
}

// The proof must fail when what it proves does not hold: here the silent runner never loses its
// turn.
func TestProofFails(t *testing.T) {
	testrepo.Serving(t)
	testrepo.InMemory()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if r := prove(ctx, func(o *control.Options) { o.TTL = time.Hour }); r.Result != "fail" || len(r.Errors) == 0 {
		t.Fatalf("%+v", r)
	}
}

// A failing agent is reported: its turn is recorded as failed, and the run can react.
func TestFailureIsHandedIn(t *testing.T) {
	testrepo.InMemory()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := &proofRun{work: proof.Lifecycle(), out: &Report{}}
	broken := errors.New("no model")
	p.run(ctx, func(o *control.Options) { o.TTL = time.Hour }, func(ctx context.Context, addr net.Addr) {
		conn, err := connect(addr.String(), "", "")
		if p.c.Fail("connect", err) {
			return
		}
		defer func() { p.c.Fail("disconnect", conn.Close()) }()
		w := p.worker(conn, "failing")
		w.do = func(context.Context, *pb.Task) ([]byte, error) { return nil, broken }
		if p.c.Fail("register", w.register(ctx, nil)) {
			return
		}
		if _, err := w.turn(ctx); !errors.Is(err, broken) {
			t.Errorf("told %v, want %v", err, broken)
		}
		rows, err := p.project.Rows("history.jsonl")
		if p.c.Fail("history.jsonl", err) {
			return
		}
		if len(rows) != 1 || rows[0]["status"] != wire.ResultFailed {
			t.Errorf("on record: %v", rows)
		}
	})
	if len(p.c.Errors) > 0 {
		t.Error(p.c.Errors)
	}
}
