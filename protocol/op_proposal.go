// DecideProposal: a proposal is applied, whole or by file, or rejected
// (docs/spec/observation.md#a-proposal-is-decided).

package protocol

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpProposal is the wire name of DecideProposal.
const OpProposal = "decide_proposal"

// Files of a proposal other than the proposed ones.
const (
	ProposalSnapshot = "SOURCE_SNAPSHOT.json"
	ProposalApplied  = "APPLIED.json"
	ProposalRejected = "REJECTED.json"
)

// ProposalDir returns the directory of a turn's proposal.
func ProposalDir(turn string) string { return wire.ProposedDir + "/" + turn }

// DecideProposal records that files of a proposal were committed, that an authoritative
// turn took them over as its own work, or that the proposal was turned down.
type DecideProposal struct {
	TurnID  string         `json:"turn_id"`
	Row     *evidence.Blob `json:"row"`               // history line of the turn, without newline
	Reject  bool           `json:"reject,omitempty"`  // otherwise Files were applied
	Reason  string         `json:"reason,omitempty"`  // needed to reject
	Files   []string       `json:"files,omitempty"`   // every applied file, earlier ones included
	Partial bool           `json:"partial,omitempty"` // other files are still undecided
	Commit  string         `json:"commit,omitempty"`  // holds the files applied now
	// or: the active turn that now has Files, those of this apply, as its work
	InTurn string `json:"in_turn,omitempty"`
}

func (*DecideProposal) Name() string               { return OpProposal }
func (op *DecideProposal) Blobs() []*evidence.Blob { return []*evidence.Blob{op.Row} }

func (op *DecideProposal) Apply(t *change.Draft) *wire.Error {
	if in := t.Env.Actor.InsideTurn; in != "" && (op.Reject || op.InTurn != in) {
		return ProposalInsideTurn(t.Env.Actor)
	}
	missing := &wire.Error{
		Code:    wire.CodeNotFound,
		Field:   "turn_id",
		Message: fmt.Sprintf("Turn %s has made no proposal.", wire.Shown(op.TurnID)),
		Hint:    "git agentxchain proposal list",
	}
	if op.Row == nil {
		return missing
	}
	row, err := ojson.DecodeObject(op.Row.Data)
	dir := ProposalDir(op.TurnID)
	if err != nil || row.String("turn_id") != op.TurnID || row.Object("artifact").String("ref") != dir {
		return missing
	}
	reason := wire.TrimSpace(op.Reason)
	switch {
	case len(reason) > change.MaxReason:
		return change.ReasonTooLong(reason)
	case op.Reject && reason == "":
		return wire.InvalidArgument("reason", "A rejected proposal needs a reason.")
	case !op.Reject && len(op.Files) == 0:
		return wire.InvalidArgument("files", "No file of the proposal is named.")
	case op.InTurn != "":
		return op.takeOver(t)
	case !op.Reject && !wire.IsCommit(op.Commit):
		return wire.InvalidArgument("commit", "%s is not a commit id.", wire.Shown(op.Commit))
	case !op.Reject && t.State.ActiveTurns.Len() > 0:
		return ProposalBusy(t.State.ActiveTurns.Keys())
	}
	now := t.Env.Time()
	who := ojson.NewObject("name", t.Env.Actor.Name, "email", t.Env.Actor.Email)
	if op.Reject {
		t.Append(wire.LedgerDecisions, ojson.NewObject(
			"id", "DEC-PROP-REJECT-"+op.TurnID,
			"category", "proposal",
			"action", "rejected",
			"turn_id", op.TurnID,
			"reason", reason,
			"by", who,
			"timestamp", now,
		))
		t.Write(dir+"/"+ProposalRejected,
			ojson.Pretty(ojson.NewObject("rejected_at", now, "reason", reason, "by", who)))
		t.Subject = "reject the proposal of " + op.TurnID
	} else {
		files := slices.Clone(op.Files)
		t.Append(wire.LedgerDecisions, ojson.NewObject(
			"id", "DEC-PROP-APPLY-"+op.TurnID,
			"category", "proposal",
			"action", "applied",
			"turn_id", op.TurnID,
			"files", files,
			"selective", op.Partial,
			"forced", false,
			"overridden_conflicts", []string{},
			"commit", op.Commit,
			"by", who,
			"timestamp", now,
		))
		t.Write(dir+"/"+ProposalApplied, ojson.Pretty(ojson.NewObject(
			"applied_at", now,
			"files", files,
			"selective", op.Partial,
			"forced", false,
			"overridden_conflicts", []string{},
			"commit", op.Commit,
			"by", who,
		)))
		t.State.AcceptedIntegrationRef = new("git:" + op.Commit)
		t.Subject = fmt.Sprintf("apply the proposal of %s at %.12s", op.TurnID, op.Commit)
	}
	t.Turn, t.Role = op.TurnID, row.String("role")
	return nil
}

// takeOver makes files of the proposal the work of an active turn, which declares and accounts for them. They count
// as applied when the turn is accepted as completed, and wait again when it is given up.
func (op *DecideProposal) takeOver(t *change.Draft) *wire.Error {
	turn, err := t.Target(op.InTurn, "apply a proposal in")
	if err != nil {
		return err
	}
	switch {
	case op.Reject || op.Commit != "":
		return wire.InvalidArgument("in_turn", "A turn applies files as its own work; it neither rejects nor commits.")
	case t.State.Status != wire.StatusActive:
		return run.BlockedError(t.State, "apply a proposal")
	}
	if err := ProposalTaker(t.Config, turn); err != nil {
		return err
	}
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"id", "DEC-PROP-APPLY-"+op.TurnID,
		"category", "proposal",
		"action", "applied",
		"turn_id", op.TurnID,
		"files", slices.Clone(op.Files),
		"selective", op.Partial,
		"forced", false,
		"overridden_conflicts", []string{},
		"commit", nil,
		"in_turn", turn.TurnID,
		"role", turn.AssignedRole,
		"timestamp", t.Env.Time(),
	))
	t.About(turn)
	t.Subject = fmt.Sprintf("turn %s (%s) applies the proposal of %s", turn.TurnID, turn.AssignedRole, op.TurnID)
	return nil
}

// ProposalTaker refuses a turn whose role may not change the work tree itself.
func ProposalTaker(cfg *config.Config, turn *run.Turn) *wire.Error {
	role, ok := cfg.Roles.Get(turn.AssignedRole)
	if ok && role.WriteAuthority == wire.Authoritative {
		return nil
	}
	return &wire.Error{
		Code:  wire.CodeInvalidStateTransition,
		Field: "in_turn",
		Message: fmt.Sprintf("Turn %s belongs to %s, which is not authoritative: it cannot apply a proposal.",
			turn.TurnID, turn.AssignedRole),
		Hint: "ask a person to decide in their own terminal: git agentxchain proposal list",
	}
}

// ProposalInsideTurn says that an agent may apply proposals only as the work of its own turn.
func ProposalInsideTurn(actor evidence.Actor) *wire.Error {
	return &wire.Error{
		Code:  wire.CodeInsideTurn,
		Field: "actor",
		Message: actor.Place() +
			"; an agent cannot decide on a proposal, it can apply one as work of its own authoritative turn.",
		Hint: "ask a person to decide in their own terminal: git agentxchain proposal list",
	}
}

// ProposalBusy says that turns at work would count the applied files as their own.
func ProposalBusy(turns []string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   "active_turns",
		Message: fmt.Sprintf("Turn %s is active and would see the files move.", wire.List(turns)),
		Hint:    "accept or reject the turn, then: git agentxchain proposal apply; or apply it as work of an authoritative turn with --in TURN",
	}
}
