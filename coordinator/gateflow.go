// Deciding on the gate that waits: everything that moves, moves together (docs/coordinator.md#gates).

package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// ApproveOptions are the options of a decision on the gate that waits.
type ApproveOptions struct {
	Gate           string // refuse any other gate; "" takes the one that waits
	InitiativeOnly bool   // leave the repositories' own completion gates to separate approvals
	AllowActions   bool   // run the actions of the repositories' completion gates
	Consent        runner.ConsentOptions
}

// Decision is the result of a decision on a gate.
type Decision struct {
	Gate  *initiative.PendingGate
	State *initiative.State // after the decision
	Moved map[string]string // repository -> operation that completed its run
	Next  []initiative.Action
	Hook  *wire.Error      // the hook that stopped it, nil if none did
	Tally *agreement.Tally // who agreed, nil if any person may decide
}

// Waits reports whether people agreed, but the gate waits for more of them.
func (d *Decision) Waits() bool { return d.Tally != nil && !d.Tally.Reached() }

// Approve passes the gate that waits. It is judged again on the current state of the repositories and the
// before_gate hooks are asked. The completion of the initiative also approves the completion that repositories wait
// for: afterwards all of them and the initiative are complete, or none is.
//
// If rules require certain people, each yes counts, and the gate waits until enough of them have agreed. With
// Consent.Only nothing is decided, and the error is a *runner.Signed.
//
// Errors: inside_dispatched_turn, nothing_pending, run_blocked, gate_failed, not_recorded, hook_blocked and the
// tamper codes, those of agreement.Moment.Agree and of Store.Decide. The Decision holds the gate and what to do
// next, even with an error.
func (c *Coordinator) Approve(ctx context.Context, opt ApproveOptions) (*Decision, error) {
	out := &Decision{Moved: make(map[string]string)}
	err := c.approve(ctx, out, opt, c.env(ctx))
	c.after(ctx, out)
	return out, err
}

func (c *Coordinator) approve(ctx context.Context, out *Decision, opt ApproveOptions, env protocol.Env) error {
	if e := personOnly(env.Actor, "approve a gate", Program+" multi approve-gate"); e != nil {
		return e
	}
	tx, err := c.begin(ctx, "approve-gate")
	if err != nil {
		return err
	}
	defer c.end(ctx, tx)
	st := tx.Docs.State
	if out.Gate = st.PendingGate; out.Gate == nil && st.Status == initiative.StatusBlocked {
		return blockedError(st)
	}
	if e := expected(out.Gate, opt.Gate); e != nil {
		return e
	}
	if e := initiative.Decidable(st, "approved"); e != nil {
		return hinted(e, "")
	}
	if err := c.willRun(ctx, tx.Docs.Config, HookBeforeGate, HookAfterAcceptance); err != nil {
		return err
	}
	s, _, err := c.catchUp(ctx, tx)
	if err != nil {
		return err
	}
	if e := initiative.Decidable(s.State, "approved"); e != nil {
		return hinted(e, "")
	}
	if _, e := s.ownFirst(opt); e != nil {
		return e
	}
	yes, err := c.collectYes(ctx, s, opt.Consent, env)
	if err != nil {
		return err
	}
	// The engine decides first: no hook is asked about a gate that would be refused or would keep waiting.
	ch, sum, e := initiative.Approve(&s.Workspace, s.Children, yes, env)
	if e != nil {
		return hinted(e, s.lostHint())
	}
	if out.Tally = sum; out.Waits() {
		return c.commit(ctx, tx, "vote_gate", fmt.Sprintf("Approved gate %s: %d of %d", out.Gate.Gate, len(sum.Votes),
			sum.Need), ch)
	}
	if e := actsOnServer(s, opt); e != nil {
		return e
	}
	if err := c.beforeGate(ctx, tx, s, out); err != nil {
		return err
	}
	return c.decide(ctx, tx, out, opt, yes, env)
}

// hinted adds a hint to a refusal of the rules that has none; lost is the hint for repositories that have lost
// operations.
func hinted(e *wire.Error, lost string) *wire.Error {
	if e.Hint != "" {
		return e
	}
	switch e.Code {
	case wire.CodeRunBlocked:
		e.Hint = Program + " multi resume"
	case wire.CodeGateFailed:
		e.Hint = cmp.Or(lost, Program+" multi barriers")
	default:
		e.Hint = Program + " multi status"
	}
	return e
}

// beforeGate asks the hooks about an approval that would be granted.
func (c *Coordinator) beforeGate(ctx context.Context, tx *Tx, s *Seen, out *Decision) error {
	g := s.State.PendingGate
	ev := initiative.Reevaluate(&s.Workspace, s.Children)
	var stream any
	if len(ev.Workstreams) == 1 {
		stream = ev.Workstreams[0].String("workstream_id")
	}
	hook, err := c.fire(ctx, tx, s, HookBeforeGate, ojson.NewObject("workstream_id", stream, "repo_id", nil,
		"repo_run_id", nil, "gate_type", g.GateType, "gate", g.Gate, "from_phase", ojson.OrNull(g.From),
		"to_phase", ojson.OrNull(g.To), "required_repos", append([]string{}, g.RequiredRepos...),
		"human_barriers", append([]string{}, ev.HumanBarriers...), "coordinator_status", string(s.State.Status),
		"coordinator_phase", s.State.Phase))
	if err != nil {
		return err
	}
	if out.Hook = stopped(HookBeforeGate, hook); out.Hook != nil {
		return out.Hook
	}
	return nil
}

// expected refuses a decision on a gate other than the one that the person has in mind.
func expected(g *initiative.PendingGate, want string) *wire.Error {
	switch {
	case want == "" || g != nil && g.Gate == want:
		return nil
	case g == nil:
		return &wire.Error{
			Code:    wire.CodeNothingPending,
			Field:   "gate",
			Message: fmt.Sprintf("No gate of the initiative waits for a decision, %s neither.", ojson.Shown(want)),
			Hint:    Program + " multi status",
		}
	}
	return &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Field:   "gate",
		Message: fmt.Sprintf("Gate %s waits for a decision, not %s.", g.Gate, ojson.Shown(want)),
		Hint:    Program + " multi status",
	}
}

// decide carries out the approval in the initiative, in every repository that moves with it, and in the record of
// the workspace's own repository. The repositories are judged once more, because hooks take time.
func (c *Coordinator) decide(ctx context.Context, tx *Tx, out *Decision, opt ApproveOptions, yes *initiative.Yes,
	env protocol.Env) error {
	s := c.see(ctx, tx.Docs, false)
	if yes != nil {
		yes.Repositories = standing(s) // a statement names their positions
	}
	ch, sum, e := initiative.Approve(&s.Workspace, s.Children, yes, env)
	if e != nil {
		return hinted(e, s.lostHint())
	}
	if out.Tally = sum; out.Waits() {
		return hinted(&wire.Error{
			Code:    wire.CodeGateFailed,
			Message: "The repositories moved while hooks looked at the gate, so earlier approvals no longer count.",
		}, s.lostHint())
	}
	op, subject := "approve_gate", "Approved gate "+out.Gate.Gate
	if out.Gate.GateType != initiative.GateCompletion || opt.InitiativeOnly {
		return c.commit(ctx, tx, op, subject, ch)
	}
	if e := actsOnServer(s, opt); e != nil {
		return e
	}
	parts := c.completing(s, opt)
	if len(parts) == 0 {
		return c.commit(ctx, tx, op, subject, ch)
	}
	if p := c.recording(ctx, tx, op, subject, ch); p != nil {
		parts = append(parts, *p)
	}
	decided, err := tx.decide(ctx, ch, parts)
	if err != nil {
		return err
	}
	for repo, at := range decided.Moved {
		if repo == "" {
			c.moved = true
			continue
		}
		out.Moved[repo] = string(at)
	}
	for repo, late := range decided.Late {
		c.note(fmt.Sprintf("%s: %v", repo, late))
	}
	c.record(ctx, tx.Docs, op, subject)
	return nil
}

// recording returns the record of a change as a participant of a decision, nil when it cannot be written now: the
// files are the authority, and the next change is recorded together with all before it.
func (c *Coordinator) recording(ctx context.Context, tx *Tx, op, subject string, ch *initiative.Change) *Participant {
	home := c.repository(ctx)
	if home == nil {
		return nil
	}
	in, err := c.initiative(ctx, tx.Docs, op, subject)
	if err == nil {
		for _, s := range tx.Docs.steps(ch) {
			if s.Append {
				in.Files[s.File] = append(in.Files[s.File], s.Data...)
			} else {
				in.Files[s.File] = []byte(s.Data)
			}
		}
		in.State = in.Files[initiative.StatePath]
		var up git.RefUpdate
		if up, err = record.PrepareInitiative(ctx, home.Repository(), in); err == nil {
			p := moveRef("", home.Repository(), decision.Move{Op: op, Ref: up, Reflog: "agentxchain: " + op})
			return &p
		}
	}
	c.note("the initiative could not be recorded in git: " + err.Error())
	return nil
}

// Deny withdraws the gate that waits, for a reason: work continues in the current phase. Errors:
// inside_dispatched_turn, and those of the pure Deny.
func (c *Coordinator) Deny(ctx context.Context, gate, reason string) (*Decision, error) {
	out := &Decision{}
	env := c.env(ctx)
	if e := personOnly(env.Actor, "deny a gate", Program+" multi approve-gate --deny"); e != nil {
		return out, e
	}
	err := func() error {
		tx, err := c.begin(ctx, "deny-gate")
		if err != nil {
			return err
		}
		defer c.end(ctx, tx)
		out.Gate = tx.Docs.State.PendingGate
		if e := expected(out.Gate, gate); e != nil {
			return e
		}
		ch, e := initiative.Deny(&tx.Docs.Workspace, reason, env)
		if e != nil {
			return e
		}
		return c.commit(ctx, tx, "deny_gate", "Denied gate "+out.Gate.Gate, ch)
	}()
	c.after(ctx, out)
	return out, err
}

// after fills in the current state of the initiative. It leaves out what cannot be read: the decision's own error
// says why.
func (c *Coordinator) after(ctx context.Context, out *Decision) {
	d, err := c.store.Read()
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			c.note(err.Error())
		}
		return
	}
	s := c.see(ctx, d, false)
	out.State, out.Next = s.State, initiative.NextActions(&s.Workspace, s.Children)
	if out.Gate == nil {
		out.Gate = s.State.PendingGate
	}
	if s.State.PendingGate != nil {
		g, err := c.gateStanding(ctx, s)
		if err != nil {
			c.note(err.Error())
		} else if g != nil {
			g.explain(out.Next, c.env(ctx).Actor.Email)
		}
	}
}
