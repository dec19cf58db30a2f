// To-completion proves that a whole governed lifecycle, pm to dev to qa, can be
// driven through the declared runner interface alone: gates that a person
// approves, a rejection and a retry under the same turn id (runner proof, tier 2).
//
//	go run ./examples/to-completion --json
//
// It ends with 0 when everything held and with 1 when something did not.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func main() {
	proof.Main(func() (any, string, []string) {
		r := prove(context.Background(), func(string, *proof.Project) {})
		return r, fmt.Sprintf("lifecycle: %s (run %s, roles %s, %d rejection(s), %s)", r.Result, r.RunID,
			strings.Join(r.Roles, " "), len(r.Rejections), r.FinalStatus), r.Errors
	})
}

// prove drives the lifecycle. at is called after each step, for tests that break
// something there.
func prove(ctx context.Context, at func(step string, p *proof.Project)) *Report {
	l := &lifecycle{
		ctx:  ctx,
		at:   at,
		work: proof.Lifecycle(),
		out: &Report{Runner: "ci-multi-turn-runner-proof", InterfaceVersion: runner.InterfaceVersion,
			Roles: []string{}, Rejections: []Rejection{}, Bundles: []Bundle{}},
	}
	l.run()
	l.out.Result, l.out.Errors = l.c.Result(), l.c.Errors
	if l.out.Errors == nil {
		l.out.Errors = []string{}
	}
	return l.out
}

// lifecycle is one drive through all phases. A step returns false when there is no point in continuing.
type lifecycle struct {
	ctx  context.Context
	at   func(string, *proof.Project)
	p    *proof.Project
	c    proof.Checks
	out  *Report
	work map[string]proof.Work
}

func (l *lifecycle) run() {
	var err error
	if l.p, err = proof.New(l.ctx, proof.Config(proof.Gates())); l.c.Fail("scaffold", err) {
		return
	}
	defer func() { l.c.Fail("clean up", l.p.Close()) }()
	begun, err := l.p.Runner.InitRun(l.ctx, runner.InitRunOptions{})
	if l.c.Fail("initRun", err) {
		return
	}
	l.out.RunID = begun.Run
	l.at("init", l.p)
	if l.planning() && l.implementation() && l.shipping() {
		l.final()
	}
}

// planning: the plan is accepted and waits at its gate until a person approves.
func (l *lifecycle) planning() bool {
	a, b, ok := l.assign("pm")
	if !ok || !l.stage(a.Turn) {
		return false
	}
	s, ok := l.accept(a.Turn, b)
	if !ok {
		return false
	}
	l.c.That(s.Status == runner.StatusPaused && s.PendingPhaseTransition != nil,
		"pm: the run is %s and waits for no transition", s.Status)
	out, err := l.p.Runner.ApprovePhaseGate(l.ctx, runner.GateOptions{})
	if l.c.Fail("approvePhaseGate", err) {
		return false
	}
	l.out.PhaseApprovals++
	l.c.That(out.State.Phase == "implementation" && out.State.Status == runner.StatusActive,
		"approvePhaseGate: phase %s, %s", out.State.Phase, out.State.Status)
	l.at("planned", l.p)
	return true
}

// implementation: an invalid result is sent back, and the retry under the same turn id moves the
// run on without a person.
func (l *lifecycle) implementation() bool {
	a, b, ok := l.assign("dev")
	if !ok {
		return false
	}
	staged, err := l.p.Runner.StageResult(l.ctx, a.Turn.TurnID, []byte(`{"note": "this is not a turn result"}`))
	if l.c.Fail("dev: stage", err) {
		return false
	}
	rej := Rejection{
		Role:         "dev",
		TurnID:       a.Turn.TurnID,
		FirstAttempt: a.Turn.Attempt,
		BundleExists: l.p.Exists(b.BundlePath),
	}
	back, err := l.p.Runner.RejectTurn(l.ctx, runner.RejectOptions{
		TurnID: a.Turn.TurnID,
		Stage:  "dispatch",
		Reason: "what was staged is not a turn result",
	})
	if l.c.Fail("rejectTurn", err) {
		return false
	}
	l.at("rejected", l.p)
	again := back.Result.Turn
	rej.StagingRemoved = !l.p.Exists(staged.Path)
	rej.RetryAttempt, rej.SameTurn = again.Attempt, again.TurnID == a.Turn.TurnID
	rej.RetryStatus = back.Result.Status
	rej.count(l.p)
	l.out.Rejections = append(l.out.Rejections, rej)
	l.c.That(rej.StagingRemoved, "rejectTurn: the refused result is still staged")
	l.c.That(rej.SameTurn && rej.RetryAttempt == rej.FirstAttempt+1,
		"rejectTurn: turn %s attempt %d follows turn %s attempt %d", again.TurnID, again.Attempt, a.Turn.TurnID,
		rej.FirstAttempt)
	l.c.That(rej.RetryStatus == "retrying", "rejectTurn: the turn is %s, not tried again", rej.RetryStatus)
	l.c.That(rej.Preserved && rej.ArtifactCount == 1, "rejectTurn: %d refused results are kept, want 1",
		rej.ArtifactCount)

	s, err := l.p.Runner.LoadState(l.ctx)
	if l.c.Fail("loadState", err) {
		return false
	}
	if l.c.That(s.Turn != nil && s.Turn.TurnID == again.TurnID,
		"loadState: the retry is not the only active turn"); s.Turn == nil {
		return false
	}
	if b, ok = l.bundle(s.Turn, s.Turn.Attempt); !ok || !l.stage(s.Turn) {
		return false
	}
	st, ok := l.accept(s.Turn, b)
	if !ok {
		return false
	}
	l.c.That(st.Phase == "qa" && st.Status == runner.StatusActive, "dev: phase %s, %s; the gate needs no person",
		st.Phase, st.Status)
	l.at("implemented", l.p)
	return true
}

// shipping: the completion waits at the last gate.
func (l *lifecycle) shipping() bool {
	a, b, ok := l.assign("qa")
	if !ok || !l.stage(a.Turn) {
		return false
	}
	s, ok := l.accept(a.Turn, b)
	if !ok {
		return false
	}
	l.c.That(s.Status == runner.StatusPaused && s.PendingRunCompletion != nil,
		"qa: the run is %s and waits for no completion", s.Status)
	_, err := l.p.Runner.ApproveCompletionGate(l.ctx, runner.GateOptions{})
	if l.c.Fail("approveCompletionGate", err) {
		return false
	}
	l.out.CompletionApprovals++
	l.at("completed", l.p)
	return true
}

// assign gives a role its turn and checks the bundle.
func (l *lifecycle) assign(role string) (*runner.Assigned, *Bundle, bool) {
	a, err := l.p.Runner.AssignTurn(l.ctx, runner.AssignOptions{Role: role})
	if l.c.Fail(role+": assignTurn", err) {
		return nil, nil, false
	}
	b, ok := l.bundle(a.Turn, 0)
	return a, b, ok
}

func (l *lifecycle) bundle(t *runner.Turn, attempt int) (*Bundle, bool) {
	w, err := l.p.Runner.WriteDispatchBundle(l.ctx, t.TurnID)
	if l.c.Fail(t.AssignedRole+": writeDispatchBundle", err) {
		return nil, false
	}
	l.at("bundle "+t.AssignedRole, l.p)
	b := &Bundle{
		TurnID:      t.TurnID,
		Role:        t.AssignedRole,
		Attempt:     attempt,
		BundlePath:  w.Path,
		StagingPath: runner.TurnStagingResultPath(t.TurnID),
		Exists:      true,
	}
	for _, name := range []string{"ASSIGNMENT.json", "PROMPT.md", "CONTEXT.md"} {
		if !l.p.Exists(w.Path + "/" + name) {
			b.Exists = false
			l.c.That(false, "%s: the bundle has no %s", t.AssignedRole, name)
		}
	}
	return b, true
}

// stage does the role's work and stages its result.
func (l *lifecycle) stage(t *runner.Turn) bool {
	data, err := l.p.Do(l.work[t.AssignedRole], l.out.RunID, t)
	if l.c.Fail(t.AssignedRole+": work", err) {
		return false
	}
	_, err = l.p.Runner.StageResult(l.ctx, t.TurnID, data)
	if l.c.Fail(t.AssignedRole+": stage", err) {
		return false
	}
	l.at("stage "+t.AssignedRole, l.p)
	return true
}

// accept accepts the staged result and commits the work, so that the next turn finds a clean tree.
func (l *lifecycle) accept(t *runner.Turn, b *Bundle) (*runner.State, bool) {
	done, err := l.p.Runner.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: t.TurnID})
	if l.c.Fail(t.AssignedRole+": acceptTurn", err) {
		return nil, false
	}
	l.at("accept "+t.AssignedRole, l.p)
	b.BundleRemoved, b.StagingRemoved = !l.p.Exists(b.BundlePath), !l.p.Exists(b.StagingPath)
	l.c.That(b.BundleRemoved, "%s: the bundle is still there after the acceptance", t.AssignedRole)
	l.c.That(b.StagingRemoved, "%s: the result is still staged after the acceptance", t.AssignedRole)
	l.out.Bundles = append(l.out.Bundles, *b)
	l.out.Roles = append(l.out.Roles, t.AssignedRole)
	l.out.Turns++
	_, err = l.p.Runner.Checkpoint(l.ctx, t.TurnID)
	return done.State, !l.c.Fail(t.AssignedRole+": checkpoint", err)
}
