// Blocks: what a blocker means, the way out of it, and the read model of both (docs/spec/state.md#what-blocks-a-run).

package run

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Owners of a block.
const (
	OwnerHuman    = "human"
	OwnerOperator = "operator"
)

// The commands that recovery texts mention.
const (
	CmdApprove = "git agentxchain approve"
	CmdAssign  = "git agentxchain assign"
	CmdUnblock = "git agentxchain unblock"
	CmdAdopt   = "git agentxchain config adopt"
	CmdAsIs    = "git agentxchain unblock --accept-as-is --reason TEXT"
	cmdStatus  = "git agentxchain status"
)

// TypedUnknown is the typed reason of an unknown blocker.
const TypedUnknown = "unknown_block"

// blockKind is a parsed blocked_on.
type blockKind struct {
	category string
	typed    string
	owner    string
	retains  bool   // the turn stays active while blocked
	detail   string // what the blocker itself says, or ""
	subject  string // the turn, policy, gate, hook or role that it names, or ""
	Scope    string // hook phase, timeout scope, or ""
}

// ParseBlocker reads the blocked_on vocabulary of docs/spec/state.md#what-blocks-a-run. Unknown values
// yield unknown_block: a person has to look.
func ParseBlocker(on string) blockKind {
	kind, rest, _ := strings.Cut(on, ":")
	sub, last, _ := strings.Cut(rest, ":")
	b := blockKind{owner: OwnerHuman, detail: on}
	name := func(category string) { b.category, b.typed = category, category }
	switch {
	case kind == "human_approval":
		name("pending_phase_transition")
		b.subject, b.detail = rest, rest
	case kind == "human" && sub == "conflict_loop":
		name("conflict_loop")
		b.subject, b.retains, b.detail = last, true,
			"Turn "+wire.OrNone(last)+" keeps meeting the changes of other turns"
	case kind == "human":
		name("needs_human")
		b.detail = rest
	case kind == "escalation" && sub == "operator":
		name("operator_escalation")
		b.retains, b.subject = true, last
	case kind == "escalation":
		name("retries_exhausted")
		b.retains, b.subject = true, last
	case kind == "policy":
		name("policy_escalation")
		b.retains, b.subject, b.detail = true, rest, fmt.Sprintf("Policy %q stopped the turn", rest)
	case kind == "budget":
		name("budget_exhausted")
	case kind == "timeout":
		name("timeout")
		b.owner, b.Scope, b.retains, b.detail = OwnerOperator, rest, true, rest+" time limit exceeded"
	case on == "non_progress":
		name("non_progress")
		b.detail = "The same gate failure came back turn after turn"
	case kind == "hook":
		name("hook_block")
		b.Scope, b.subject, b.retains = sub, last, true
		b.detail = fmt.Sprintf("Hook %q (%s) stopped the run", last, sub)
	case kind == "gate_action":
		name("gate_action_failed")
		b.subject, b.detail = rest, fmt.Sprintf("An action of gate %q failed", rest)
	case kind == "dispatch":
		name("dispatch_error")
		b.retains, b.detail = true, rest
	case kind == "turn" && sub == "failed_start", on == "turns:failed_start":
		name("ghost_turn")
		b.retains, b.subject, b.detail = true, last, "The turn never started"
	case kind == "turn" && sub == "stalled", on == "turns:stalled":
		name("stale_turn")
		b.retains, b.subject, b.detail = true, last, "The turn stopped giving signs of life"
	case on == "operator_commit_reconcile_refused":
		name(on)
	default:
		name(TypedUnknown)
	}
	return b
}

// OverruleKind returns the kind of verdict that a person overrules by taking this block as it is: policy, hook, or
// "" for neither.
func (b blockKind) OverruleKind() string {
	switch b.category {
	case "policy_escalation":
		return "policy"
	case "hook_block":
		return "hook"
	}
	return ""
}

// DescribeBlock returns the full descriptor of a run blocked on the given value: category, typed reason, owner, way
// out, whether the turn is kept, and the turn. turnID is the turn that the caller knows is concerned, or "". The
// caller sets BlockedAt. Rows 3 and 23 of docs/compatibility.md#where-we-differ-on-purpose both follow: no block
// without its whole descriptor.
func DescribeBlock(s *State, on, turnID string) *BlockedReason {
	b := ParseBlocker(on)
	if turnID == "" && b.subject != "" && s.ActiveTurns.Has(b.subject) {
		turnID = b.subject
	}
	turn := blockTurn(s, turnID)
	r := &BlockedReason{Category: b.category, Recovery: Recovery{TypedReason: b.typed, Owner: b.owner}}
	if turn != nil {
		r.TurnID = new(turn.TurnID)
		r.Recovery.TurnRetained = b.retains
	}
	if b.category == "pending_phase_transition" && s.PendingRunCompletion != nil {
		r.Category, r.Recovery.TypedReason = "pending_run_completion", "pending_run_completion"
	}
	if b.detail != "" {
		r.Recovery.Detail = new(b.detail)
	}
	r.Recovery.RecoveryAction = RecoveryAction(r.Recovery.TypedReason, on, wire.OrEmpty(r.TurnID))
	return r
}

// blockTurn resolves the turn a block is about: the preferred id, else blocked_reason.turn_id, else
// escalation.from_turn_id, else the only active turn (docs/spec/state.md#what-blocks-a-run). It returns nil when
// none of them is active.
func blockTurn(s *State, preferred string) *Turn {
	ids := []string{preferred}
	if s.BlockedReason != nil {
		ids = append(ids, wire.OrEmpty(s.BlockedReason.TurnID))
	}
	ids = append(ids, s.Escalation.String("from_turn_id"))
	for _, id := range ids {
		if t, ok := s.ActiveTurns.Get(id); ok && id != "" {
			return t
		}
	}
	return s.OnlyTurn()
}

// RecoveryAction returns the way out of a block in words, with the commands of this program. turnID may be "". The
// typed reason is the contract; these words are for people (docs/compatibility.md#where-we-differ-on-purpose row
// 29). They are recorded with the block, and applying the operation again must yield the same words; different
// words need another rule set.
func RecoveryAction(typedReason, on, turnID string) string {
	b := ParseBlocker(on)
	turn := ""
	if turnID != "" {
		turn = " " + wire.ShellWord(turnID)
	}
	switch typedReason {
	case "pending_phase_transition", "pending_run_completion":
		return CmdApprove
	case "needs_human":
		return "Do what the turn asks for, then run: " + CmdUnblock
	case "conflict_loop":
		return "Let the conflicting turns go one after another: git agentxchain reject" + turn + " --reassign"
	case "operator_escalation":
		return "Settle the escalation, then run: " + CmdUnblock
	case "retries_exhausted":
		return "Find out why the attempts failed, then run: git agentxchain reissue" + turn
	case "policy_escalation":
		return fmt.Sprintf("Policy %q stops the turn: send it back (git agentxchain reject%s --reason TEXT), relax the policy "+
			"(git agentxchain config adopt), or take the turn as it is: %s", Clip(wire.OneLine(b.subject), 80), turn,
			CmdAsIs)
	case "budget_exhausted":
		return "Raise budget.per_run_max_usd in agentxchain.json, then run: " + CmdAdopt
	case "timeout":
		return CmdUnblock
	case "non_progress":
		return "Change what the gate fails on, then run: " + CmdUnblock
	case "gate_action_failed":
		return "Make the gate's action succeed, then run: " + CmdApprove
	case "hook_block", "hook_tamper":
		fix := fmt.Sprintf("Mend hook %q, then run: ", Clip(wire.OneLine(b.subject), 80))
		switch b.Scope {
		case "before_gate":
			return fix + CmdApprove
		}
		if typedReason == "hook_tamper" {
			// Its changes to the run's files must be checked before the run goes on.
			return fix + CmdUnblock
		}
		switch b.Scope {
		case "before_validation", "after_validation", "before_acceptance":
			return fmt.Sprintf("To take the turn over hook %q's no: %s. Or mend what it asks for, then run: git agentxchain accept%s",
				Clip(wire.OneLine(b.subject), 80), CmdAsIs, turn)
		}
		return fix + CmdUnblock
	case "dispatch_error":
		return "Mend what kept the turn from being dispatched, then run: " + CmdUnblock
	case "ghost_turn":
		return "git agentxchain reissue" + turn + " --reason ghost"
	case "stale_turn":
		return "git agentxchain reissue" + turn + " --reason stale"
	}
	return "Look at " + cmdStatus + ", settle the cause, then run: " + CmdUnblock
}

// ownRecovery reports whether this program wrote a recovery text, which may then be refreshed. Texts of other
// implementations and of people stay as written.
func ownRecovery(typedReason, action string) bool {
	if wire.TrimSpace(action) == "" {
		return true
	}
	return typedReason != "operator_escalation" && strings.Contains(action, "git agentxchain ")
}

// RecoveryView is the read model of a waiting run (docs/spec/lifecycle.md#recovery).
type RecoveryView struct {
	TypedReason    string
	Owner          string
	RecoveryAction string
	TurnRetained   bool
	Detail         *string
	Guidance       []Guidance
}

// Object returns {typed_reason, owner, recovery_action, turn_retained, detail,
// runtime_guidance}.
func (v *RecoveryView) Object() *ojson.Object {
	if v == nil {
		return nil
	}
	return ojson.NewObject("typed_reason", v.TypedReason, "owner", v.Owner, "recovery_action", v.RecoveryAction,
		"turn_retained", v.TurnRetained, "detail", v.Detail, "runtime_guidance", guidanceObjects(v.Guidance))
}

// DeriveRecovery says why the run waits and how it goes on; nil when it waits for no person. A specific block takes
// precedence over a pending approval, which cannot be given before the block is lifted
// (docs/compatibility.md#where-we-differ-on-purpose row 8).
func DeriveRecovery(s *State, cfg *config.Config) *RecoveryView {
	if s == nil {
		return nil
	}
	pending := func(typed, gate string) *RecoveryView {
		return &RecoveryView{TypedReason: typed, Owner: OwnerHuman, RecoveryAction: CmdApprove, Detail: new(gate)}
	}
	specific := s.Status == wire.StatusBlocked && s.BlockedReason != nil
	switch {
	case s.Status != wire.StatusBlocked && s.Status != wire.StatusPaused:
		return nil
	case specific:
		r := s.BlockedReason.Recovery
		v := &RecoveryView{TypedReason: r.TypedReason, Owner: r.Owner, RecoveryAction: r.RecoveryAction,
			TurnRetained: r.TurnRetained, Detail: r.Detail, Guidance: DeriveGuidance(s, cfg)}
		if v.TypedReason == "" || v.Owner == "" || wire.TrimSpace(v.RecoveryAction) == "" {
			d := DescribeBlock(s, wire.OrEmpty(s.BlockedOn), wire.OrEmpty(s.BlockedReason.TurnID))
			v.TypedReason = cmp.Or(v.TypedReason, d.Recovery.TypedReason)
			v.Owner = cmp.Or(v.Owner, d.Recovery.Owner)
			if wire.TrimSpace(v.RecoveryAction) == "" {
				v.RecoveryAction = RecoveryAction(v.TypedReason, wire.OrEmpty(s.BlockedOn),
					wire.OrEmpty(s.BlockedReason.TurnID))
			}
		}
		v.RecoveryAction = possible(s, v.RecoveryAction)
		return v
	case s.PendingRunCompletion != nil:
		return pending("pending_run_completion", s.PendingRunCompletion.Gate)
	case s.PendingPhaseTransition != nil:
		return pending("pending_phase_transition", s.PendingPhaseTransition.Gate)
	}
	d := DescribeBlock(s, wire.OrEmpty(s.BlockedOn), "").Recovery
	return &RecoveryView{TypedReason: d.TypedReason, Owner: d.Owner, RecoveryAction: d.RecoveryAction,
		TurnRetained: d.TurnRetained, Detail: d.Detail, Guidance: DeriveGuidance(s, cfg)}
}

// possible returns a recovery action whose command still has an object: once the turn or the gate is gone, only
// lifting the block remains.
func possible(s *State, action string) string {
	const program = "git agentxchain "
	at := strings.LastIndex(action, program)
	if at < 0 {
		return action
	}
	verb, _, _ := strings.Cut(action[at+len(program):], " ")
	switch strings.TrimRight(verb, ".") {
	case "accept", "reject":
		if s.ActiveTurns.Len() > 0 {
			return action
		}
	case "reissue":
		if s.ActiveTurns.Has(wire.OrEmpty(s.BlockedReason.TurnID)) {
			return action
		}
	case "approve":
		if HasPending(s) {
			return action
		}
	default:
		return action
	}
	if HasPending(s) && ApprovalResumes(s.BlockedReason.Category) {
		return action[:at] + CmdApprove
	}
	return action[:at] + CmdUnblock
}

// ApprovalResumes reports whether approvals run into such a block: where a gate waits, approving again is the way
// out.
func ApprovalResumes(category string) bool {
	switch category {
	case "gate_action_failed", "hook_block", "hook_tamper":
		return true
	}
	return false
}

// Guidance is advice on a gate that fails because the owner of a missing file
// cannot write it with its runtime (docs/spec/lifecycle.md#recovery).
type Guidance struct {
	// invalid_binding, review_only_remote_dead_end, proposal_apply_required, tool_defined_proof_not_strong_enough
	Code         string
	Phase        string
	GateID       string
	RoleID       string
	ArtifactPath string
	Command      string
	Reason       string
}

func guidanceObjects(gs []Guidance) []*ojson.Object {
	return ojson.List(gs, func(g Guidance) *ojson.Object {
		return ojson.NewObject("code", g.Code, "phase", g.Phase, "gate_id", ojson.OrNull(g.GateID),
			"role_id", g.RoleID,
			"artifact_path", g.ArtifactPath, "command", g.Command, "reason", g.Reason)
	})
}

// DeriveGuidance checks the files that the last failed gate misses and who owns them. It sorts by severity and
// lists each role and file once.
func DeriveGuidance(s *State, cfg *config.Config) []Guidance {
	if s == nil || cfg == nil || s.LastGateFailure == nil {
		return nil
	}
	f := s.LastGateFailure
	phase := cmp.Or(f.Phase, s.Phase)
	artifacts, _ := cfg.WorkflowKit.Phases.Get(phase)
	var ranked [4][]Guidance
	for _, path := range f.MissingFiles {
		role := ""
		for _, a := range artifacts {
			if a.Path == path {
				role = a.OwnedBy
			}
		}
		if role == "" {
			if r := cfg.Route(phase); r != nil {
				role = r.EntryRole
			}
		}
		if cfg.Role(role) == nil {
			continue
		}
		g := Guidance{
			Phase:        phase,
			GateID:       wire.OrEmpty(f.GateID),
			RoleID:       role,
			ArtifactPath: path,
			Command: fmt.Sprintf(
				"Bind role %q to a runtime that may write in agentxchain.json, then run: git agentxchain validate",
				role),
		}
		rank := 0
		switch c := config.WriteContract(cfg, role); {
		case c.Ownership == config.OwnershipInvalid || c.Path == config.PathInvalidAuthoritative ||
			c.Path == config.PathInvalidReviewOnly:
			g.Code = "invalid_binding"
			g.Reason = fmt.Sprintf("%s belongs to %q, whose authority and runtime do not go together.", path, role)
		case c.Path == config.PathReviewArtifactOnly:
			rank, g.Code = 1, "review_only_remote_dead_end"
			g.Reason = fmt.Sprintf("%s belongs to %q, which can only hand in reviews and never write the file.", path,
				role)
		case c.Ownership == config.OwnershipProposalApply:
			rank, g.Code = 2, "proposal_apply_required"
			g.Command = "Apply the proposal under " + wire.ProposedDir + ", then run: " + CmdAssign
			g.Reason = fmt.Sprintf("%s belongs to %q, whose files stay proposals until a person applies them.", path,
				role)
		case c.Ownership == config.OwnershipToolDefined:
			rank, g.Code = 3, "tool_defined_proof_not_strong_enough"
			g.Command = "git agentxchain validate"
			g.Reason = fmt.Sprintf("%s belongs to %q, whose tool alone decides whether it can write files.", path,
				role)
		default:
			continue
		}
		ranked[rank] = append(ranked[rank], g)
	}
	var out []Guidance
	for _, gs := range ranked {
		out = append(out, gs...)
	}
	return out
}
