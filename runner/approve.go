// Approve: a person passes the pending gate, gate actions included.

package runner

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/commands"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// CodeActionsNotAllowed means that the gate has actions and the person has not agreed to run the
// commands that a committed file names.
const CodeActionsNotAllowed = "gate_actions_not_allowed"

// codeWorkNotHere means that the documents of a gate are here as they were before the turn that asked changed them.
const codeWorkNotHere = "work_not_here"

// ApproveOptions says what to approve.
type ApproveOptions struct {
	Completion   *bool  // nil: either kind; else only a completion or a transition
	AllowActions bool   // run the gate's actions; also git config --global agentxchain.allowGateActions
	DryRun       bool   // report what would happen, change nothing
	Reason       string // recorded with the approval; may be empty
	Consent      ConsentOptions

	// what the person saw; their answer approves nothing else. nil: nothing particular was asked for
	Shown *gate.Pending
}

// Approved is the outcome of Approve. When Result.Passed is false the approval is
// recorded and the gate waits for more.
type Approved struct {
	Done
	DryRun  bool
	Result  *protocol.ApproveResult
	Actions []config.GateAction
	Signed  []string // sign-off documents that now carry the person's yes
	Commit  string   // of those documents, "" for none
}

// Approve checks the predicates of the pending gate against the present work tree and passes the
// gate, or adds the person's yes to those it needs. It is refused inside a dispatched turn.
func (r *Runner) Approve(ctx context.Context, opt ApproveOptions) (*Approved, error) {
	out := &Approved{DryRun: opt.DryRun}
	in := r.Asker()
	if refusal := protocol.CheckApprover(evidence.Actor{InsideTurn: in.Turn, InsideWhy: in.Why}); refusal != nil {
		out.Outcome = OutcomeOf(refusal)
		return out, refusal
	}
	a := &approving{opt: opt, out: out}
	done, err := r.do(ctx, "approve", a.decide, a.signOff)
	out.Done = *done
	for _, t := range done.made {
		if res, ok := t.Result.(*protocol.ApproveResult); ok {
			out.Result = res
		}
	}
	return out, err
}

// approving is an approval in progress.
type approving struct {
	opt ApproveOptions
	out *Approved

	completion bool
	by         string // turn that asked
	trigger    string
	read       []evidence.FileBlob // the gate's documents as they are now
	signed     []evidence.FileBlob // the gate's documents with the person's yes
	changed    []string            // those that the approval changes
	documents  []gates.DocumentFact
	consent    *agreement.Consent
}

// decide collects everything the engine decides on: the gate's documents as they will be signed,
// the person's proof, the answers of hooks and the results of actions.
func (a *approving) decide(ctx context.Context, c *change) (*plan, error) {
	s, out := c.view.State, a.out
	a.completion = s.PendingRunCompletion != nil && s.PendingPhaseTransition == nil
	if a.opt.Completion != nil {
		a.completion = *a.opt.Completion
	}
	if refusal := protocol.CheckApprovable(s, a.completion, c.env.Actor); refusal != nil {
		return nil, refusal
	}
	if err := c.sameAsThen(&protocol.ApprovePhase{}); err != nil {
		return nil, err // before the gate's actions run
	}
	res := a.asked(s)
	out.Result = res
	if g := c.view.Config.Gate(res.Gate); g != nil {
		out.Actions = g.Actions
	}
	if a.opt.DryRun {
		return nil, nil
	}
	if err := c.hooks.WillRun(ctx, "before_gate"); err != nil {
		return nil, err
	}
	if _, err := c.look(ctx); err != nil {
		return nil, err
	}
	if err := a.look(ctx, c); err != nil {
		return nil, err
	}
	if err := a.opt.Shown.Still(res.Gate, a.by, a.read); err != nil {
		return nil, err
	}
	if err := handedIn(ctx, c, res.Gate, a.read); err != nil {
		return nil, err
	}
	var err error
	a.consent, err = c.consent(ctx, consent.Question{
		Decision: attest.Approve,
		Gate:     res.Gate,
		GateType: res.GateType,
		Phase:    s.Phase,
		To:       res.To,
		By:       a.by,
		Evidence: a.signed,
		Reason:   a.opt.Reason,
		Rules: func(given *agreement.Consent) []*config.GateRule {
			return agreement.GateRules(c.view.Config, given, res.Gate)
		},
	}, a.opt.Consent)
	if err != nil {
		return nil, err
	}
	if c.signed != nil {
		return &plan{op: preview(a.op(nil))}, nil
	}
	if len(out.Actions) == 0 && !c.hooks.Has("before_gate") {
		return &plan{op: a.op([]protocol.ActionRun{})}, nil
	}
	// The engine decides first: no action may run for a gate that would be refused or that still
	// waits for others.
	if passes, err := a.preview(c); err != nil || !passes {
		return &plan{op: a.op([]protocol.ActionRun{})}, err
	}
	if len(out.Actions) > 0 && !a.opt.AllowActions &&
		!c.r.store.Repository().PersonSettingBool(ctx, "agentxchain.allowGateActions") && !c.r.trusted(ctx, c.view.Config) {
		return nil, actionsRefused(res.Gate, out.Actions)
	}
	if c.hooks.Has("before_gate") {
		if err := c.beforeGate(ctx, a.completion); err != nil {
			return nil, err
		}
		// The gate is checked against the files that the hooks have left.
		if err := a.look(ctx, c); err != nil {
			return nil, err
		}
		if _, err := a.preview(c); err != nil {
			return nil, err
		}
	}
	if len(out.Actions) == 0 {
		return &plan{op: a.op([]protocol.ActionRun{})}, nil
	}
	return &plan{op: a.op(commands.RunActions(ctx, c.r.store.Dir(), commands.Attempt(c.env.Now, c.env.Seed),
		commands.Gate{
			ID:      res.Gate,
			Kind:    res.GateType,
			Phase:   s.Phase,
			By:      a.by,
			Trigger: a.trigger,
		}, out.Actions))}, nil
}

// asked returns the gate that the run waits at, and the turn that asked for it.
func (a *approving) asked(s *run.State) *protocol.ApproveResult {
	if p := s.PendingRunCompletion; a.completion {
		a.by, a.trigger = p.RequestedByTurn, "approve-completion"
		return &protocol.ApproveResult{From: s.Phase, GateType: run.GateCompletion, Gate: p.Gate}
	}
	p := s.PendingPhaseTransition
	a.by, a.trigger = p.RequestedByTurn, "approve-transition"
	return &protocol.ApproveResult{From: p.From, To: p.To, GateType: run.GatePhase, Gate: p.Gate}
}

// handedIn refuses a yes to documents that are here as they were before the turn that asked changed them: its work is
// on another branch, or was not pulled.
func handedIn(ctx context.Context, c *change, id string, files []evidence.FileBlob) error {
	before, away := gate.Before(ctx, c.r.store, c.view, files)
	if len(before) == 0 {
		return nil
	}
	return &wire.Error{
		Code:    codeWorkNotHere,
		Field:   "gates." + id,
		Details: ojson.NewObject("gate_id", id, "turn_id", away.Turn, "commit", string(away.Commit), "paths", before),
		Message: fmt.Sprintf("Turn %s asked for gate %q with another %s than the one here, which is as it was before the "+
			"phase; %s.", away.Turn, id, wire.ListSome(before, 3), away.What()),
		Hint: away.Bring(),
	}
}

// look reads the gate's documents and signs them for the person in memory: the work tree changes
// when the approval is recorded.
func (a *approving) look(ctx context.Context, c *change) error {
	files, err := c.gateFiles()
	if err != nil {
		return err
	}
	signed, changed, refusal := protocol.Sign(c.view.Config, files)
	if refusal != nil {
		return refusal
	}
	if err := c.signable(changed); err != nil {
		return err
	}
	a.read, a.signed, a.changed = files, signed, changed
	if a.documents, err = c.gateDocuments(ctx); err != nil {
		return err
	}
	for i, d := range a.documents {
		for _, f := range signed {
			if f.Path == d.Path && f.Blob != nil {
				a.documents[i] = gates.LookDocument(c.view.Config, f.Path, f.Blob.Data)
			}
		}
	}
	return nil
}

func (a *approving) op(actions []protocol.ActionRun) protocol.Operation {
	approval := protocol.Approval{
		Files:     a.signed,
		Actions:   actions,
		Reason:    a.opt.Reason,
		Consent:   a.consent,
		Documents: a.documents,
		Undoable:  true,
	}
	if a.completion {
		return &protocol.ApproveCompletion{Approval: approval}
	}
	return &protocol.ApprovePhase{Approval: approval}
}

// preview asks whether the approval would be granted, and whether the gate would pass with it.
func (a *approving) preview(c *change) (passes bool, err error) {
	t, refusal := c.ask(c.view.Snapshot(), preview(a.op(nil)))
	if refusal != nil {
		return false, refusal
	}
	return t.Result.(*protocol.ApproveResult).Passed, nil
}

// signOff writes the person's yes into the sign-off documents and commits them, once the approval
// is recorded. A failure here takes nothing back: doctor writes it later.
func (a *approving) signOff(ctx context.Context, c *change) (*plan, error) {
	s := c.view.State
	if a.opt.DryRun || len(a.changed) == 0 || run.HasPending(s) {
		return nil, nil
	}
	commit, written, err := c.writeSignoffs(ctx, a.read, a.signed, a.changed)
	switch docs := wire.ListSome(a.changed, 1); {
	case err != nil && written:
		c.view.Notices = append(c.view.Notices, fmt.Sprintf("the approval is recorded and %s is signed, but not "+
			"committed; commit it before the next turn begins: %v", docs, err))
		return nil, nil
	case err != nil:
		c.view.Notices = append(c.view.Notices, fmt.Sprintf("the approval is recorded, but %s could not be "+
			"signed: %v (git agentxchain doctor --fix)", docs, err))
		return nil, nil
	}
	a.out.Signed, a.out.Commit = a.changed, string(commit)
	return nil, nil
}

// preview makes the engine say only whether it would grant the approval.
func preview(op protocol.Operation) protocol.Operation {
	switch op := op.(type) {
	case *protocol.ApprovePhase:
		op.Approval.Preview = true
	case *protocol.ApproveCompletion:
		op.Approval.Preview = true
	}
	return op
}

func actionsRefused(gate string, actions []config.GateAction) error {
	cmds := make([]string, len(actions))
	for i, a := range actions {
		cmds[i] = a.Run
	}
	return &wire.Error{
		Code:    CodeActionsNotAllowed,
		Field:   "gates." + gate + ".gate_actions",
		Details: ojson.NewObject("gate_id", gate, "commands", cmds),
		Message: fmt.Sprintf(
			"Gate %q would run %s named in agentxchain.json, first %q; you have not allowed that.", gate,
			text.Count(len(actions), "command", "commands"), cmds[0]),
		Hint: "read them, then: git agentxchain approve --allow-actions (or git config --global agentxchain.allowGateActions true)",
	}
}

// PendingGate looks at the gate that waits for a person. It takes no lock, changes nothing, and is
// open to agents.
//
// Errors: nothing_pending, git_failed, and those of View.
func (r *Runner) PendingGate(ctx context.Context) (*gate.Pending, error) {
	v, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	return gate.Show(ctx, r.store, v)
}
