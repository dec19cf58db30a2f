// The proof: a whole governed run carried out over the wire, and a late runner.

package main

import (
	"context"
	"errors"
	"net"
	"time"

	"google.golang.org/grpc"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Report is the proof's result.
type Report struct {
	Runner           string   `json:"runner"`
	InterfaceVersion string   `json:"runner_interface_version"`
	Result           string   `json:"result"` // pass, fail
	RunID            string   `json:"run_id"`
	TurnsExecuted    int      `json:"turns_executed"`
	Roles            []string `json:"roles"`
	LateOutcome      string   `json:"late_outcome"` // why the outcome of an ended lease was refused
	FinalStatus      string   `json:"final_status"`
	Errors           []string `json:"errors"`
}

// proofTTL is how long a lease lasts in the proof, proofLimit the proof itself.
const (
	proofTTL   = 3 * time.Second // a renewal may come late on a busy machine
	proofLimit = 2 * time.Minute
)

// prove serves a scratch project and carries out its run. spoil, nil for none, may change the
// service's options first, for tests that break something.
func prove(ctx context.Context, spoil func(*control.Options)) *Report {
	p := &proofRun{
		work: proof.Lifecycle(),
		out:  &Report{Runner: "monarchic-runner-proof", InterfaceVersion: runner.InterfaceVersion, Roles: []string{}},
	}
	ctx, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	p.run(ctx, spoil, p.drive)
	p.out.Result, p.out.Errors = p.c.Result(), p.c.Errors
	if p.out.Errors == nil {
		p.out.Errors = []string{}
	}
	return p.out
}

type proofRun struct {
	project *proof.Project
	work    map[string]proof.Work
	c       proof.Checks
	out     *Report
}

// run serves the scratch project while drive goes on.
func (p *proofRun) run(ctx context.Context, spoil func(*control.Options), drive func(context.Context, net.Addr)) {
	var err error
	if p.project, err = proof.New(ctx, proof.Config(proof.Gates())); p.c.Fail("scaffold", err) {
		return
	}
	defer func() { p.c.Fail("clean up", p.project.Close()) }()
	opt := control.Options{Runner: p.project.Runner, TTL: proofTTL, Poll: 20 * time.Millisecond, Version: "proof"}
	if spoil != nil {
		spoil(&opt)
	}
	s, err := control.New(ctx, opt)
	if p.c.Fail("service", err) {
		return
	}
	defer s.Close()
	l, err := s.Listen(ctx, "127.0.0.1:0")
	if p.c.Fail("listen", err) {
		return
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(serving, l, time.Second) }()
	drive(ctx, l.Addr())
	stop()
	p.c.Fail("serve", <-ended)
}

// drive carries out the run: pm; dev, taken by a runner that falls silent and finished by another;
// qa. A person approves the gates in between.
func (p *proofRun) drive(ctx context.Context, addr net.Addr) {
	conn, err := connect(addr.String(), "", "")
	if p.c.Fail("connect", err) {
		return
	}
	defer func() { _ = conn.Close() }()
	one, two := p.worker(conn, "runner-one"), p.worker(conn, "runner-two")
	for _, w := range []*worker{one, two} {
		if p.c.Fail("register "+w.id, w.register(ctx, nil)) {
			return
		}
	}
	p.step(ctx, one, "pm")
	p.approve(ctx, false)
	late, err := one.client.AcquireLease(ctx, &pb.AcquireLeaseRequest{
		ContractVersion: contract,
		RunnerId:        one.id,
		SessionId:       one.session,
		AvailableSlots:  1,
	})
	if p.c.Fail("lease of dev", err) || late.Assignment == nil {
		p.c.That(false, "nobody was given the turn of dev: %v", late)
		return
	}
	p.step(ctx, two, "dev") // as soon as the silent runner's lease has ended
	p.late(ctx, one, late.Assignment)
	p.step(ctx, one, "qa")
	p.approve(ctx, true)
	st, err := p.project.Runner.LoadState(ctx)
	if p.c.Fail("loadState", err) {
		return
	}
	p.out.RunID, p.out.FinalStatus = st.Run, string(st.State.Status)
	p.c.That(st.State.Status == runner.StatusCompleted, "the run is %s, want completed", st.State.Status)
	if rows, err := p.project.Rows("history.jsonl"); !p.c.Fail("history.jsonl", err) {
		p.c.That(len(rows) == 3, "history.jsonl has %d rows, want 3", len(rows))
	}
}

func (p *proofRun) worker(conn *grpc.ClientConn, id string) *worker {
	return &worker{client: pbgrpc.NewRunnerControlServiceClient(conn), id: id, do: p.do}
}

// do is the agent: it works in the served project, like an agent on the same machine.
func (p *proofRun) do(ctx context.Context, task *pb.Task) ([]byte, error) {
	st, err := p.project.Runner.LoadState(ctx)
	if err != nil {
		return nil, err
	}
	turn, ok := st.State.ActiveTurns.Get(task.TaskId)
	if !ok {
		return nil, errors.New("the turn is not active")
	}
	return p.project.Do(p.work[task.RoleId], st.Run, turn)
}

// step makes a worker carry out the next turn, which has to be of role.
func (p *proofRun) step(ctx context.Context, w *worker, role string) {
	for {
		task, err := w.turn(ctx)
		if errors.Is(err, errNothing) && ctx.Err() == nil {
			time.Sleep(w.poll)
			continue
		}
		if p.c.Fail("turn of "+role, err) {
			return
		}
		p.c.That(task.RoleId == role, "the turn is of %s, want %s", task.RoleId, role)
		p.out.Roles = append(p.out.Roles, task.RoleId)
		p.out.TurnsExecuted++
		return
	}
}

// late makes the runner whose lease has ended hand in its result anyway.
func (p *proofRun) late(ctx context.Context, w *worker, as *pb.LeaseAssignment) {
	res, err := w.client.ReportStepOutcome(ctx, &pb.ReportStepOutcomeRequest{
		ContractVersion: contract,
		RunnerId:        w.id,
		SessionId:       w.session,
		Lease:           as.Lease,
		Status:          pb.PlanStatus_COMPLETE,
	})
	if p.c.Fail("late outcome", err) {
		return
	}
	p.out.LateOutcome = res.GetFailure().GetCode()
	p.c.That(!res.Accepted && p.out.LateOutcome == "step_already_terminal", "the late outcome: accepted %v, %s",
		res.Accepted, p.out.LateOutcome)
}

func (p *proofRun) approve(ctx context.Context, completion bool) {
	var err error
	if completion {
		_, err = p.project.Runner.ApproveCompletionGate(ctx, runner.GateOptions{})
	} else {
		_, err = p.project.Runner.ApprovePhaseGate(ctx, runner.GateOptions{})
	}
	p.c.Fail("approve", err)
}
