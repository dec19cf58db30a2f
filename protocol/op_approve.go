// ApprovePhase and ApproveCompletion: a person passes a gate (docs/spec/gates.md#approval-by-a-person).

package protocol

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Approval is what both approvals carry. The gate is evaluated again on Files: what was true when the run paused
// may no longer be true.
type Approval struct {
	Files   []evidence.FileBlob `json:"files"`
	Actions []ActionRun         `json:"actions"` // gate actions the caller ran, in order
	// the caller could not look at the work tree; the gate is not evaluated again
	Unproven bool   `json:"unproven,omitempty"`
	Reason   string `json:"reason,omitempty"` // why, in the person's words
	// keep what a withdrawal restores; older records did not
	Undoable bool               `json:"undoable,omitempty"`
	Consent  *agreement.Consent `json:"consent,omitempty"` // who agrees, with the proof
	// Documents are all gate documents, where the configuration has authority.
	Documents []gates.DocumentFact `json:"documents,omitempty"`
	// only check whether it would be granted, before any action runs; never recorded
	Preview bool `json:"-"`
}

// ActionRun is one executed gate action (docs/spec/gates.md#gate-actions).
type ActionRun struct {
	AttemptID  string  `json:"attempt_id"`
	Index      int     `json:"action_index"` // 1-based
	Label      string  `json:"action_label"`
	Command    string  `json:"command"`
	TimeoutMS  int     `json:"timeout_ms"`
	OK         bool    `json:"ok"`
	ExitCode   *int    `json:"exit_code"`
	Signal     *string `json:"signal"`
	StdoutTail *string `json:"stdout_tail"`
	StderrTail *string `json:"stderr_tail"`
	SpawnError *string `json:"spawn_error"`
	TimedOut   bool    `json:"timed_out"`
}

// ApprovePhase passes the pending phase gate.
type ApprovePhase struct {
	Approval Approval `json:"approval"`
}

// ApproveCompletion passes the pending completion gate.
type ApproveCompletion struct {
	Approval Approval `json:"approval"`
}

func (*ApprovePhase) Name() string                    { return "approve_transition" }
func (*ApproveCompletion) Name() string               { return "approve_completion" }
func (op *ApprovePhase) Blobs() []*evidence.Blob      { return op.Approval.blobs() }
func (op *ApproveCompletion) Blobs() []*evidence.Blob { return op.Approval.blobs() }

func (a *Approval) blobs() []*evidence.Blob {
	var out []*evidence.Blob
	for i := range a.Files {
		out = append(out, a.Files[i].Blob)
	}
	return append(out, a.Consent.Blobs()...)
}

// ApproveResult is the outcome of an approval.
type ApproveResult struct {
	GateType string
	Gate     string
	From, To string // phases; To is "" for a completion

	Votes   []*run.Vote // of everyone who agrees, newest last
	Dropped []*run.Vote // given for content that has changed since; not counted
	Needed  int         // how many have to agree
	Passed  bool        // enough people agree
}

// CheckApprover refuses an agent. An isolated agent cannot even take the lock; this tells it why before it tries.
func CheckApprover(actor evidence.Actor) *wire.Error {
	if actor.InsideTurn == "" {
		return nil
	}
	return &wire.Error{
		Code:    wire.CodeInsideTurn,
		Field:   "actor",
		Message: actor.Place() + "; an agent cannot approve a gate.",
		Hint:    "ask a person to run git agentxchain approve in their own terminal",
	}
}

// CheckApprovable says whether an approval may be attempted, before any of the caller's gate actions runs. It is
// also the first step of the operation.
func CheckApprovable(s *run.State, completion bool, actor evidence.Actor) *wire.Error {
	what := "phase transition"
	pending := s.PendingPhaseTransition != nil
	if completion {
		what, pending = "run completion", s.PendingRunCompletion != nil
	}
	if refusal := CheckApprover(actor); refusal != nil {
		return refusal
	}
	if !pending {
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "pending",
			Message: fmt.Sprintf("No %s waits for approval; the run is %s.", what, s.Status),
			Hint:    "git agentxchain status",
		}
	}
	if s.Status != wire.StatusPaused && s.Status != wire.StatusBlocked {
		return &wire.Error{
			Code:  wire.CodeInvalidStateTransition,
			Field: "status",
			Message: fmt.Sprintf("A %s can be approved only while the run is paused or blocked; it is %s.", what,
				s.Status),
			Hint: "git agentxchain status",
		}
	}
	if s.Status == wire.StatusBlocked && !approvalBlock(s) {
		return run.BlockedError(s, "approve a gate")
	}
	return nil
}

// checkDelegated refuses an approval over open delegations. Only a run that another tool led to its gate can have
// them; the way out is to deny the gate or to assign the role.
func checkDelegated(s *run.State) *wire.Error {
	if !s.DelegationOpen() {
		return nil
	}
	hint := cmdDeny
	if role := dueRole(s); role != "" {
		hint = run.CmdAssign + " " + wire.ShellWord(role)
	}
	return &wire.Error{Code: wire.CodeDelegationOpen, Field: "delegation_queue", Hint: hint,
		Message: "Delegated work has not come back or was not reviewed; the gate cannot be passed before that."}
}

// approvalBlock reports whether an approval ran into the block: approving again is the way out. Every other block
// at a gate is lifted first.
func approvalBlock(s *run.State) bool {
	return s.BlockedReason != nil && run.ApprovalResumes(s.BlockedReason.Category)
}

func (op *ApprovePhase) Apply(t *change.Draft) *wire.Error {
	if err := t.Rule(verdict.RulePending, "", "", CheckApprovable(t.State, false, t.Env.Actor)); err != nil {
		return err
	}
	if err := checkDelegated(t.State); err != nil {
		return err
	}
	p := t.State.PendingPhaseTransition
	res := &ApproveResult{GateType: run.GatePhase, Gate: p.Gate, From: p.From, To: p.To}
	t.Result = res
	if err := op.Approval.reevaluate(t, p.Gate, t.Index.QueuedRow, func(in gates.Input) gates.Result {
		in.TransitionRequest = new(p.To)
		return phaseGate(t, in)
	}); err != nil {
		return err
	}
	d := gateDecision(t, run.GatePhase, p.Gate, p.To, &op.Approval)
	if open, err := op.Approval.opens(t, res, d, p.RequestedByTurn, "approve-transition"); err != nil || !open {
		return err
	}
	t.Event(run.EventGateApproved, nil, "gate_type", run.GatePhase, "gate_id", p.Gate, "from", p.From, "to", p.To,
		"requested_by_turn", ojson.OrNull(p.RequestedByTurn))
	settle(t, "gate_approved")
	t.State.PendingPhaseTransition = nil
	g := gates.Result{GateID: new(p.Gate), NextPhase: p.To}
	advance(t, &g, p.RequestedByTurn, "human_approved")
	markDocuments(t, op.Approval.Documents, true, true)
	t.Session = "phase_approved"
	t.Subject = fmt.Sprintf("approve %s: %s to %s", p.Gate, p.From, p.To)
	return nil
}

func (op *ApproveCompletion) Apply(t *change.Draft) *wire.Error {
	if err := t.Rule(verdict.RulePending, "", "", CheckApprovable(t.State, true, t.Env.Actor)); err != nil {
		return err
	}
	if err := checkDelegated(t.State); err != nil {
		return err
	}
	p := t.State.PendingRunCompletion
	res := &ApproveResult{GateType: run.GateCompletion, Gate: p.Gate, From: t.State.Phase}
	t.Result = res
	if err := op.Approval.reevaluate(t, p.Gate, t.Index.QueuedDone, func(in gates.Input) gates.Result {
		in.CompletionRequest = true
		return completionGate(t, in)
	}); err != nil {
		return err
	}
	d := gateDecision(t, run.GateCompletion, p.Gate, "", &op.Approval)
	if open, err := op.Approval.opens(t, res, d, p.RequestedByTurn, "approve-completion"); err != nil || !open {
		return err
	}
	t.Event(run.EventGateApproved, nil, "gate_type", run.GateCompletion, "gate_id", p.Gate,
		"requested_by_turn", ojson.OrNull(p.RequestedByTurn))
	settle(t, "gate_approved")
	t.State.PendingRunCompletion = nil
	complete(t, new(p.Gate))
	t.Session = "run_completed"
	t.Subject = fmt.Sprintf("approve %s: run completed", p.Gate)
	return nil
}

// opens counts this yes and records the actions that ran on it. The gate stays shut while it waits for other people, and
// where an action failed. by is the turn that asked.
func (a *Approval) opens(t *change.Draft, res *ApproveResult, d *agreement.Decision, by, trigger string) (bool,
	*wire.Error) {
	passed, err := a.count(t, res, d)
	tracePeople(t, res, err)
	if err != nil || !passed {
		return false, err
	}
	if err := t.Rule(verdict.RuleGateActions, res.Gate, gates.GatePointer(res.Gate, "gate_actions"),
		a.checkActions(t.Config, res.Gate)); err != nil {
		return false, err
	}
	if a.record(t, res.GateType, res.Gate, by, trigger) {
		return false, nil
	}
	a.granted(t, res, by)
	return true, nil
}

// reevaluate checks the gate's predicates against the present work tree and the verification of the turn that
// asked. It refuses unless the gate passes: a configuration changed since the pause may no longer know the phase or
// the order, or end the phase at another gate. Without routing there is nothing to check.
func (a *Approval) reevaluate(t *change.Draft, gate string, row *ojson.Object,
	eval func(gates.Input) gates.Result) *wire.Error {
	if a.Unproven || t.Config.Routing.Len() == 0 {
		return nil
	}
	refuse := func(reasons, missing []string, message, hint string) *wire.Error {
		return &wire.Error{
			Code:     wire.CodeGateFailed,
			Field:    "gates." + gate,
			Details:  ojson.NewObject("gate_id", gate, "reasons", reasons, "missing_files", missing),
			Message:  message,
			Hint:     hint,
			Problems: reasonProblems(reasons),
		}
	}
	if why := Overtaken(t.State, t.Config); why != "" && !t.Earlier.GateUnmatched {
		return refuse([]string{why}, nil, fmt.Sprintf("Gate %q can no longer be approved: %s.", gate, why), cmdDeny)
	}
	in := gateInput(t, a.Files)
	in.Person = true
	if row == nil {
		row = t.Index.LastRow // the state does not say which turn asked
	}
	verifiedBy(&in, row)
	g := eval(in)
	switch g.Action {
	case gates.ActionAdvance, gates.ActionComplete, gates.ActionAwaitHuman:
		return nil
	}
	return refuse(g.Reasons, g.MissingFiles,
		fmt.Sprintf("Gate %q no longer passes: %s", gate, reasonProblems(g.Reasons).Join()),
		"git agentxchain gate show "+gate)
}

func reasonProblems(reasons []string) wire.Problems {
	out := make(wire.Problems, len(reasons))
	for i, r := range reasons {
		out[i] = wire.Problem{Code: wire.CodeGateFailed, Message: r}
	}
	return out
}

// checkActions makes sure that the gate's actions were run: all of them, as configured, in order, up to the first
// that failed.
func (a *Approval) checkActions(cfg *config.Config, gate string) *wire.Error {
	g := cfg.Gate(gate)
	if g == nil || a.Unproven || a.Preview {
		return nil
	}
	refuse := func(what string) *wire.Error {
		return &wire.Error{Code: wire.CodeInvalidArgument, Field: "gates." + gate + ".gate_actions",
			Message: fmt.Sprintf("Gate %q cannot be approved: %s.", gate, what), Hint: "git agentxchain approve"}
	}
	for i, r := range a.Actions {
		if i >= len(g.Actions) || r.Index != i+1 || r.Command != g.Actions[i].Run {
			return refuse(fmt.Sprintf("action %d that was run is not the one configured", i+1))
		}
		if !r.OK {
			return nil
		}
	}
	if len(a.Actions) < len(g.Actions) {
		return refuse(fmt.Sprintf("%d of its %d actions were not run", len(g.Actions)-len(a.Actions), len(g.Actions)))
	}
	return nil
}

// record writes one ledger line per executed action. It returns true when one failed, which blocks the run instead
// of moving it on.
func (a *Approval) record(t *change.Draft, kind, gate, by, trigger string) bool {
	for _, r := range a.Actions {
		t.Append(wire.LedgerDecisions, ledger.NewGateActionEntry(ledger.GateActionRun{
			At:              t.Env.Time(),
			AttemptID:       r.AttemptID,
			GateID:          gate,
			GateType:        kind,
			Phase:           t.State.Phase,
			RequestedByTurn: by,
			TriggerCommand:  trigger,
			Index:           r.Index,
			Label:           r.Label,
			Command:         r.Command,
			TimeoutMS:       r.TimeoutMS,
			Succeeded:       r.OK,
			ExitCode:        r.ExitCode,
			Signal:          wire.OrEmpty(r.Signal),
			StdoutTail: wire.OrEmpty(
				r.StdoutTail),
			StderrTail: wire.OrEmpty(r.StderrTail),
			SpawnError: wire.OrEmpty(r.SpawnError),
			TimedOut:   r.TimedOut,
		}))
		if r.OK {
			continue
		}
		name := r.Label
		if name == "" {
			name = r.Command
		}
		detail := fmt.Sprintf("%s action %d (%s) failed", gate, r.Index, name)
		if r.TimedOut {
			detail = fmt.Sprintf("%s action %d (%s) timed out after %dms", gate, r.Index, name, r.TimeoutMS)
		}
		t.Block(change.Block{
			On:          "gate_action:" + gate,
			Category:    "gate_action_failed",
			TypedReason: "gate_action_failed",
			Owner:       "human",
			Action:      "Mend the cause, then run: git agentxchain approve",
			Detail:      detail,
			GateAction: ojson.NewObject("attempt_id", r.AttemptID, "gate_id", gate, "gate_type", kind,
				"action_index", r.Index, "action_label", r.Label,
				"command", r.Command, "exit_code", intPtr(r.ExitCode), "stderr_tail", r.StderrTail,
				"timeout_ms", r.TimeoutMS, "timed_out", r.TimedOut),
		})
		t.Subject = fmt.Sprintf("gate action of %s failed", gate)
		t.Failure = &wire.Error{
			Code:    wire.CodeGateActionFailed,
			Field:   "gates." + gate,
			Message: "Gate action failed: " + detail + ".",
			Hint:    "remove the cause, then: git agentxchain approve",
			Details: ojson.NewObject("gate_id", gate,
				"action_index", r.Index, "exit_code", intPtr(r.ExitCode), "stderr_tail", r.StderrTail),
		}
		return true
	}
	return false
}

func intPtr(p *int) any {
	if p == nil {
		return nil
	}
	return *p
}

// settle makes the run active and closes what the gate had opened.
func settle(t *change.Draft, via string) {
	s := t.State
	if s.Status == wire.StatusBlocked {
		t.ClearBlock(via)
	}
	t.ResolveEscalations(func(open *ojson.Object) bool {
		on := open.String("blocked_on")
		return open.String("run_id") == s.Run() &&
			(strings.HasPrefix(on, "gate_action:") || strings.HasPrefix(on, "human_approval:") ||
				strings.HasPrefix(on, "hook:before_gate:"))
	}, via)
	s.Status = wire.StatusActive
	s.BlockedOn, s.BlockedReason = nil, nil
	s.LastGateFailure = nil
	s.GateVotes = nil
}
