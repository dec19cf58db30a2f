// Run-loop proves that package runner/loop composes the operations of the declared
// runner interface into a whole governed run: gates, a rejection and its retry, a
// typed stop reason (runner proof, tier 3).
//
//	go run ./examples/run-loop --json
//
// It ends with 0 when everything held and with 1 when something did not.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func main() {
	proof.Main(func() (any, string, []string) {
		r := prove(context.Background(), nil)
		return r, fmt.Sprintf("run loop: %s (%s, roles %s, %d events, %d rejection(s))", r.Result, r.StopReason,
			strings.Join(r.Roles, " "), r.EventCount, r.RejectionCount), r.Errors
	})
}

// Report is the proof's result (docs/runner.md#proofs).
type Report struct {
	Runner           string              `json:"runner"`
	InterfaceVersion string              `json:"runner_interface_version"`
	Result           string              `json:"result"` // pass, fail
	RunID            string              `json:"run_id"`
	StopReason       string              `json:"stop_reason"`
	TurnsExecuted    int                 `json:"turns_executed"`
	Roles            []string            `json:"roles"` // in the order of acceptance
	GatesApproved    int                 `json:"gates_approved"`
	TurnHistory      []loop.HistoryEntry `json:"turn_history"`
	RejectionCount   int                 `json:"rejection_count"`
	EventTypes       []string            `json:"event_types"`
	EventCount       int                 `json:"event_count"`
	FinalStatus      string              `json:"final_status"`
	Errors           []string            `json:"errors"`
}

// theEvents returns every event of the run in its order: the retry of dev is not assigned again.
func theEvents() []string {
	return []string{
		"turn_assigned", "turn_accepted", "gate_paused", "gate_approved", // pm
		"turn_assigned", "turn_rejected", "turn_accepted", // dev
		"turn_assigned", "turn_accepted", "gate_paused", "gate_approved", "completed", // qa
	}
}

// prove drives the run. spoil, nil for none, may change the loop's options first,
// for tests that break something.
func prove(ctx context.Context, spoil func(*loop.Options)) *Report {
	p := &proofRun{
		work: proof.Lifecycle(),
		out: &Report{Runner: "ci-run-loop-composition-proof", InterfaceVersion: runner.InterfaceVersion,
			Roles: []string{}, TurnHistory: []loop.HistoryEntry{}, EventTypes: []string{}},
	}
	p.run(ctx, spoil)
	p.out.Result, p.out.Errors = p.c.Result(), p.c.Errors
	if p.out.Errors == nil {
		p.out.Errors = []string{}
	}
	return p.out
}

// proofRun is one drive of the loop and its events.
type proofRun struct {
	project *proof.Project
	work    map[string]proof.Work
	c       proof.Checks
	out     *Report

	refused, accepted string // turn ids of dev
	next              []string
}

func (p *proofRun) run(ctx context.Context, spoil func(*loop.Options)) {
	var err error
	if p.project, err = proof.New(ctx, proof.Config(proof.Gates())); p.c.Fail("scaffold", err) {
		return
	}
	defer func() { p.c.Fail("clean up", p.project.Close()) }()
	p.next = []string{"pm", "dev", "qa"}
	opt := loop.Options{
		SelectRole: p.role, Dispatch: p.dispatch, OnEvent: p.event,
		ApproveGate: func(context.Context, loop.GateRequest) (bool, error) { return true, nil },
	}
	if spoil != nil {
		spoil(&opt)
	}
	res := loop.Run(ctx, p.project.Runner, opt)
	p.check(ctx, res)
}

// role returns the roles of the list in turn; after the last the loop ends.
func (p *proofRun) role(context.Context, *runner.State, *runner.Config) (string, error) {
	if len(p.next) == 0 {
		return "", nil
	}
	role := p.next[0]
	p.next = p.next[1:]
	return role, nil
}

// dispatch does the role's work in this process. The first attempt of dev returns no result.
func (p *proofRun) dispatch(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
	if d.Turn.AssignedRole == "dev" && d.Turn.Attempt == 1 {
		return &runtimes.Outcome{
			Kind:   runtimes.Rejected,
			Reason: "the first attempt brought nothing, as this proof wants it",
		}
	}
	data, err := p.project.Do(p.work[d.Turn.AssignedRole], d.View.Run, d.Turn)
	if err != nil {
		return &runtimes.Outcome{Kind: runtimes.Blocked, Class: "proof_failed", Reason: err.Error()}
	}
	return &runtimes.Outcome{Kind: runtimes.Returned, Result: data}
}

func (p *proofRun) event(e loop.Event) {
	p.out.EventTypes = append(p.out.EventTypes, e.Type)
	switch e.Type {
	case loop.EventTurnAccepted:
		p.out.Roles = append(p.out.Roles, e.Role)
		if e.Role == "dev" {
			p.accepted = e.Turn.TurnID
		}
	case loop.EventTurnRejected:
		p.out.RejectionCount++
		p.refused = e.Turn.TurnID
		p.c.That(e.Role == "dev", "the rejected turn is of %s, want dev", e.Role)
	}
}

// check compares what the loop returned with its events and with what is recorded.
func (p *proofRun) check(ctx context.Context, res *loop.Result) {
	out, c := p.out, &p.c
	out.StopReason, out.TurnsExecuted, out.GatesApproved, out.TurnHistory = string(res.StopReason), res.TurnsExecuted,
		res.GatesApproved, res.TurnHistory
	out.EventCount = len(out.EventTypes)
	for _, e := range res.Errors {
		c.That(false, "the loop reports: %s", e)
	}
	c.That(res.OK && res.StopReason == loop.Completed, "the loop stopped for %q", res.StopReason)
	c.That(res.TurnsExecuted == 3, "%d turns were accepted, want 3", res.TurnsExecuted)
	c.That(slices.Equal(out.Roles, []string{"pm", "dev", "qa"}), "accepted turns of %v, want pm, dev, qa", out.Roles)
	c.That(res.GatesApproved == 2, "%d gates were approved, want 2", res.GatesApproved)
	c.That(out.RejectionCount == 1, "%d rejections, want 1", out.RejectionCount)
	c.That(p.refused != "" && p.refused == p.accepted, "dev was accepted as turn %q after turn %q was sent back",
		p.accepted, p.refused)
	c.That(slices.Equal(out.EventTypes, theEvents()), "events %v, want %v", out.EventTypes, theEvents())
	c.That(len(res.TurnHistory) == 4, "turn_history has %d entries, want 4", len(res.TurnHistory))
	s, err := p.project.Runner.LoadState(ctx)
	if c.Fail("loadState", err) {
		return
	}
	out.RunID, out.FinalStatus = s.Run, string(s.State.Status)
	c.That(s.State.Status == runner.StatusCompleted, "the run is %s, want completed", s.State.Status)
	if rows, err := p.project.Rows("history.jsonl"); !c.Fail("history.jsonl", err) {
		c.That(len(rows) == 3, "history.jsonl has %d rows, want 3", len(rows))
	}
}
