// One step of an initiative, and steps until nothing more can be done (docs/coordinator.md#a-turn).

package coordinator

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeNotAssignable is the code of a step where no turn can be assigned and the gate is not ready.
const CodeNotAssignable = "not_assignable"

// Results of a step.
const (
	DidDispatch   = "turn_dispatched"
	DidPhase      = "phase_transition_requested"
	DidCompletion = "run_completion_requested"
	DidNothing    = "completed" // the initiative is already complete
)

// Stepped is the result of a step. Exactly one of Given and Gate is set, none for an initiative that is complete.
type Stepped struct {
	Did        string
	SuperRunID string
	Given      *Given
	Gate       *initiative.PendingGate
	Signed     bool                 // the gate requires signatures
	RefusedBy  string               // the repository that refused the turn, "" if none did
	Resync     *initiative.Resynced // what was adopted first; nil if the step did nothing else
}

// Object returns the step for --json (docs/commands.md).
func (s *Stepped) Object() *ojson.Object {
	switch {
	case s.Given != nil:
		return s.Given.object()
	case s.Gate != nil:
		o := ojson.NewObject("action", s.Did, "gate", s.Gate.Gate, "gate_type", s.Gate.GateType)
		if s.Gate.GateType == initiative.GatePhase {
			o.Set("from", s.Gate.From)
			o.Set("to", s.Gate.To)
		}
		o.Set("human_barriers", append([]string{}, s.Gate.HumanBarriers...))
		return o
	}
	return ojson.NewObject("action", s.Did, "super_run_id", s.SuperRunID, "status", string(initiative.StatusCompleted))
}

// Step adopts what the repositories have done, then assigns one turn or requests the gate that is ready.
//
// Errors: those of Lock; run_blocked, awaiting_approval, hook_blocked and the tamper codes of hooks,
// hooks_untrusted; not_assignable with the reason and the gate's blockers in Details {reason, workstream_id,
// repo_id, detail, gate}; and those of the assignment in the repository.
func (c *Coordinator) Step(ctx context.Context) (*Stepped, error) { return c.step(ctx, nil) }

// step is Step without repositories that have refused a turn before. If nothing else can be assigned it does
// nothing and does not even request a gate.
func (c *Coordinator) step(ctx context.Context, without []string) (*Stepped, error) {
	tx, err := c.begin(ctx, "step")
	if err != nil {
		return nil, err
	}
	defer c.end(ctx, tx)
	st := tx.Docs.State
	if st.Status == initiative.StatusCompleted {
		return &Stepped{Did: DidNothing, SuperRunID: st.SuperRunID}, nil
	}
	if err := c.willRun(ctx, tx.Docs.Config, HookBeforeAssignment, HookAfterAcceptance); err != nil {
		return nil, err
	}
	switch {
	case st.Abandoned():
		return nil, initiative.AbandonedError(st)
	case st.Status == initiative.StatusBlocked:
		c.escalate(ctx, tx, c.see(ctx, tx.Docs, false))
		return nil, blockedError(st)
	case st.PendingGate != nil:
		return nil, awaiting(st.PendingGate)
	}
	s, caught, err := c.catchUp(ctx, tx)
	out := &Stepped{SuperRunID: st.SuperRunID}
	if caught != nil {
		out.Resync = caught.Resync
	}
	if err != nil {
		return out, err
	}
	children := maps.Clone(s.Children)
	for _, repo := range without {
		delete(children, repo)
	}
	a, no := initiative.Select(&s.Workspace, children)
	switch {
	case a == nil && len(without) > 0:
		return out, nil
	case a == nil:
		return out, c.request(ctx, tx, s, no, out)
	}
	if e, err := c.beforeAssignment(ctx, tx, s, a); err != nil || e != nil {
		return out, errors.Join(err, orNil(e))
	}
	if out.Given, err = c.give(ctx, tx, s, a); out.Given != nil {
		out.Did = DidDispatch
	} else if refusalOf(err) != nil {
		out.RefusedBy = a.Repo
	}
	return out, err
}

func orNil(e *wire.Error) error {
	if e == nil {
		return nil
	}
	return e
}

func awaiting(g *initiative.PendingGate) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeAwaitingApproval,
		Field:   "pending_gate",
		Message: "Gate " + g.Gate + " (" + g.GateType + ") waits for a person.",
		Details: ojson.NewObject("gate", g.Gate, "gate_type", g.GateType),
		Hint:    Program + " multi approve-gate",
	}
}

// beforeAssignment asks the hooks about a turn before it is assigned. A refusal changes
// nothing.
func (c *Coordinator) beforeAssignment(ctx context.Context, tx *Tx, s *Seen,
	a *initiative.Assignment) (*wire.Error, error) {
	out, err := c.fire(ctx, tx, s, HookBeforeAssignment, ojson.NewObject("workstream_id", a.Workstream,
		"repo_id", a.Repo, "repo_run_id", ojson.OrNull(s.State.RunOf(a.Repo)), "role", a.Role,
		"coordinator_status", string(s.State.Status), "coordinator_phase", s.State.Phase))
	if err != nil {
		return nil, err
	}
	return stopped(HookBeforeAssignment, out), nil
}

// request requests the gate out of the phase, or completion in the last one.
func (c *Coordinator) request(ctx context.Context, tx *Tx, s *Seen, no *initiative.Refusal, out *Stepped) error {
	ev, did := initiative.EvaluatePhase(&s.Workspace, s.Children, ""), DidPhase
	if s.Config.NextPhase(s.State.Phase) == "" {
		ev, did = initiative.EvaluateCompletion(&s.Workspace, s.Children), DidCompletion
	}
	if !ev.Ready {
		e := notReady(no, ev)
		e.Hint = cmp.Or(s.lostHint(), e.Hint)
		return e
	}
	ch, e := initiative.Request(&s.Workspace, ev, c.env(ctx))
	if e != nil {
		return e
	}
	g, unread := c.groundsHere(ctx, s)
	if unread == nil {
		ch.AskedBy(g.Base)
	}
	if err := c.commit(ctx, tx, "request_gate", "Asked for gate "+ev.Gate, ch); err != nil {
		return err
	}
	out.Did, out.Gate = did, tx.Docs.State.PendingGate
	if unread != nil {
		c.note(unread.Error()) // the gate waits nevertheless
		return nil
	}
	for _, r := range initiative.RulesOf(s.State.Phase, out.Gate.To, g.Configs...) {
		out.Signed = out.Signed || r.Signed
	}
	return nil
}

// groundsHere is groundsNow with what is recorded here.
func (c *Coordinator) groundsHere(ctx context.Context, s *Seen) (*initiative.Grounds, error) {
	a, err := c.judgingHere(ctx, s.State)
	if err != nil {
		return nil, err
	}
	return c.groundsNow(ctx, a, s.Documents)
}

// notReady says why no turn can be assigned, and what the gate waits for.
func notReady(no *initiative.Refusal, ev *initiative.Evaluation) *wire.Error {
	e := ev.Refusal()
	e.Code, e.Field, e.Problems = CodeNotAssignable, no.Workstream, nil
	e.Message = "No workstream can be worked on: " + no.Detail
	e.Details = ojson.NewObject("reason", no.Reason, "detail", no.Detail, "workstream_id", ojson.OrNull(no.Workstream),
		"repo_id", ojson.OrNull(no.Repo), "gate", ev.Object())
	e.Hint = Program + " multi status"
	if no.Reason == initiative.RemoteOnly {
		e.Hint = initiative.OnServerHint("assign")
	}
	return e
}

// Ran is the result of running steps to the end.
type Ran struct {
	Steps   []*Stepped  // steps that did something
	Stopped *wire.Error // why it stopped; nil when the initiative is complete or a gate was requested

	Refused []*wire.Error // why repositories refused their turn

	Counted *initiative.Resynced // what a step adopted that did nothing else; nil if it adopted nothing
}

// Run steps until nothing more can be done: the repositories are at work, a gate waits, or the initiative is
// blocked or complete. each is called after every step that did something; it may be nil. A repository that refuses
// its turn does not hold up the others. The error is what stopped it, nil when everything possible was done: a gate
// was requested, the initiative is complete, or the repositories are at work. If repositories have refused it is
// the first refusal.
func (c *Coordinator) Run(ctx context.Context, each func(*Stepped)) (*Ran, error) {
	out := &Ran{}
	var without []string
	var refused error
	for {
		s, err := c.step(ctx, without)
		if s != nil && s.Did != "" && s.Did != DidNothing {
			out.Steps = append(out.Steps, s)
			if each != nil {
				each(s)
			}
		} else if s != nil && (out.Counted == nil || s.RefusedBy == "" && refused == nil) {
			out.Counted = s.Resync
		}
		if s != nil && s.RefusedBy != "" && ctx.Err() == nil {
			without = append(without, s.RefusedBy)
			out.Refused = append(out.Refused, refusalOf(err))
			refused = cmp.Or(refused, err)
			continue
		}
		if err == nil && s.Given != nil {
			continue
		}
		out.Stopped = refusalOf(err)
		switch waits := atWork(out.Stopped); {
		case refused != nil && (err == nil || waits):
			out.Stopped, err = out.Refused[0], refused
		case waits:
			err = nil
		}
		return out, err
	}
}

// atWork reports whether a stop ends by itself when the repositories are done.
func atWork(e *wire.Error) bool {
	if e == nil {
		return false
	}
	if e.Code == wire.CodeAwaitingApproval {
		return true
	}
	if e.Code != CodeNotAssignable {
		return false
	}
	blockers := e.Details.Object("gate").Objects("blockers")
	blocked := func(repo string) bool { // then its turn is not at work
		return slices.ContainsFunc(blockers, func(b *ojson.Object) bool {
			return b.String("code") == initiative.BlockRepoBlocked && b.String("repo_id") == repo
		})
	}
	return slices.ContainsFunc(blockers, func(b *ojson.Object) bool {
		return b.String("code") == initiative.BlockActiveTurns && !blocked(b.String("repo_id"))
	})
}
