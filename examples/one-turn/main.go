// One-turn proves that a single governed turn can be assigned, dispatched, staged
// and accepted through the declared runner interface alone (runner proof, tier 1).
//
//	go run ./examples/one-turn --json
//
// It ends with 0 when everything held and with 1 when something did not.
package main

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Report is what the proof prints with --json (docs/runner.md#proofs).
type Report struct {
	Runner           string    `json:"runner"`
	InterfaceVersion string    `json:"runner_interface_version"`
	Result           string    `json:"result"` // pass, fail
	RunID            string    `json:"run_id"`
	TurnID           string    `json:"turn_id"`
	Role             string    `json:"role"`
	Artifacts        Artifacts `json:"artifacts"`
	Errors           []string  `json:"errors,omitempty"`
}

// Artifacts is what the turn left behind.
type Artifacts struct {
	State struct {
		Valid  bool   `json:"valid"`
		SHA256 string `json:"sha256"`
	} `json:"state"`
	History Ledger `json:"history"`
	Ledger  Ledger `json:"ledger"`
}

// Ledger is a ledger that the proof examined.
type Ledger struct {
	Valid   bool `json:"valid"`
	Entries int  `json:"entry_count"`
}

func main() {
	proof.Main(func() (any, string, []string) {
		r := prove(context.Background(), func(string, *proof.Project) {})
		return r, fmt.Sprintf("one turn: %s (run %s, turn %s, role %s)", r.Result, r.RunID, r.TurnID, r.Role), r.Errors
	})
}

// prove drives one turn. at is called after each step, for tests that break something there.
func prove(ctx context.Context, at func(step string, p *proof.Project)) *Report {
	out := &Report{Runner: "ci-runner-proof", InterfaceVersion: runner.InterfaceVersion}
	var c proof.Checks
	drive(ctx, out, &c, at)
	out.Result, out.Errors = c.Result(), c.Errors
	return out
}

func drive(ctx context.Context, out *Report, c *proof.Checks, at func(string, *proof.Project)) {
	p, err := proof.New(ctx, proof.Config(nil))
	if c.Fail("scaffold", err) {
		return
	}
	defer func() { c.Fail("clean up", p.Close()) }()
	at("scaffold", p)

	begun, err := p.Runner.InitRun(ctx, runner.InitRunOptions{})
	if c.Fail("initRun", err) {
		return
	}
	out.RunID = begun.Run
	a, err := p.Runner.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	if c.Fail("assignTurn", err) {
		return
	}
	c.That(a.OK && a.State != nil, "assignTurn: the result has neither ok nor the state")
	if c.That(a.Turn != nil && a.Turn.TurnID != "", "assignTurn: the result has no turn"); a.Turn == nil {
		return
	}
	out.TurnID, out.Role = a.Turn.TurnID, a.Turn.AssignedRole
	c.That(a.Run == begun.Run, "assignTurn: the turn is of run %s, not %s", a.Run, begun.Run)
	at("assign", p)

	result, err := proof.Result(a.Run, a.Turn, proof.Map{"proposed_next_role": "dev"})
	if c.Fail("result", err) {
		return
	}
	staged, err := p.Runner.StageResult(ctx, a.Turn.TurnID, result)
	if c.Fail("stage", err) {
		return
	}
	c.That(staged.Path == runner.TurnStagingResultPath(a.Turn.TurnID), "stage: the result went to %s", staged.Path)
	at("stage", p)

	done, err := p.Runner.AcceptTurn(ctx, runner.AcceptOptions{TurnID: a.Turn.TurnID})
	if c.Fail("acceptTurn", err) {
		return
	}
	c.That(runner.ActiveTurnCount(done.State) == 0, "acceptTurn: the turn is still active")
	at("accept", p)
	out.Artifacts.check(p, out, c)
}

// check reads the files like any other program.
func (a *Artifacts) check(p *proof.Project, out *Report, c *proof.Checks) {
	state, digest, err := p.State()
	if !c.Fail("state.json", err) {
		a.State.SHA256, a.State.Valid = digest, true
		for _, member := range []string{"run_id", "schema_version", "status", "phase"} {
			if text, _ := state[member].(string); text == "" {
				a.State.Valid = false
				c.That(false, "state.json: %s is missing", member)
			}
		}
		if state["run_id"] != out.RunID {
			a.State.Valid = false
			c.That(false, "state.json: run_id is %v, not %s", state["run_id"], out.RunID)
		}
	}
	rows, err := p.Rows("history.jsonl")
	if !c.Fail("history.jsonl", err) {
		a.History.Entries = len(rows)
		a.History.Valid = len(rows) == 1 && rows[0]["turn_id"] == out.TurnID && rows[0]["role"] == out.Role
		c.That(a.History.Valid, "history.jsonl: %d entries, want the accepted turn alone", len(rows))
	}
	rows, err = p.Rows("decision-ledger.jsonl")
	if !c.Fail("decision-ledger.jsonl", err) {
		a.Ledger.Entries = len(rows)
		a.Ledger.Valid = len(rows) >= 1
		c.That(a.Ledger.Valid, "decision-ledger.jsonl: there is no entry")
	}
}
