// People's consents to a gate or an act: counted, and recorded.

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// gateDecision returns the decision that an approval is about.
func gateDecision(t *change.Draft, kind, gate, to string, a *Approval) *agreement.Decision {
	return &agreement.Decision{
		Kind:     attest.Approve,
		Gate:     gate,
		GateType: kind,
		Phase:    t.State.Phase,
		To:       to,
		Evidence: a.Files,
		Rules:    agreement.GateRules(t.Config, a.Consent, gate),
		Votes:    t.State.GateVotes,
	}
}

// count adds the people who agree now to those who did before; it returns false when more are needed, which is
// recorded and leaves the gate waiting.
func (a *Approval) count(t *change.Draft, res *ApproveResult, d *agreement.Decision) (passed bool,
	refusal *wire.Error) {
	if refusal := a.lapsed(t, d); refusal != nil {
		return false, refusal
	}
	sum, refusal := t.Moment().Agree(a.Consent, d)
	if refusal != nil {
		return false, refusal
	}
	s := t.State
	res.Votes, res.Dropped, res.Needed, res.Passed = sum.Votes, sum.Dropped, sum.Need, sum.Reached()
	if a.Reason = wire.TrimSpace(a.Reason); len(a.Reason) > change.MaxReason {
		return false, change.ReasonTooLong(a.Reason)
	}
	if a.Reason != "" {
		newest := *sum.Votes[len(sum.Votes)-1]
		if newest.Statement == "" {
			newest.Reason = a.Reason
			sum.Votes[len(sum.Votes)-1] = &newest
		}
	}
	t.KeepProof(sum)
	if res.Passed {
		return true, nil
	}
	s.GateVotes = sum.Votes
	t.Append(wire.LedgerDecisions, a.row(t, res, "human_approval_vote", ""))
	t.Event(run.EventGateVote, nil, "gate_type", d.GateType, "gate_id", d.Gate,
		"votes", len(sum.Votes), "votes_needed", sum.Need)
	t.Session = "gate_vote"
	t.Subject = fmt.Sprintf("vote for %s: %d of %d", d.Gate, len(sum.Votes), sum.Need)
	return false, nil
}

// granted records who approved, why and what.
func (a *Approval) granted(t *change.Draft, res *ApproveResult, by string) {
	t.Talk("approves", "gate "+res.Gate, a.Reason)
	t.Append(wire.LedgerDecisions, a.row(t, res, "human_approval", by))
}

func (a *Approval) row(t *change.Draft, res *ApproveResult, kind, by string) *ojson.Object {
	h := ledger.HumanApproval{
		Type:            kind,
		GateType:        res.GateType,
		GateID:          res.Gate,
		FromPhase:       res.From,
		ToPhase:         res.To,
		RequestedByTurn: by,
		Approver:        t.Env.Actor,
		Reason:          a.Reason,
		At:              t.Env.Time(),
	}
	if t.Config.Authority != nil || len(a.Consent.Given()) > 0 {
		h.Votes, h.Needed, h.Evidence = res.Votes, res.Needed, a.Files
	}
	return ledger.NewHumanApprovalEntry(h)
}

// lapsed refuses to build on an earlier yes that would be refused now, by the signers and the rules that the approval
// names. The record of the approval does not have the earlier statements: what only they tell, the person's own
// revocation of a key, is found before it is made.
func (a *Approval) lapsed(t *change.Draft, d *agreement.Decision) *wire.Error {
	if t.Earlier.LapsedCounts || len(d.Votes) == 0 {
		return nil
	}
	var base *agreement.Base
	if a.Consent != nil {
		base = a.Consent.Base
	}
	votes := t.Moment().Counted(d).Votes
	if base == nil && agreement.AnySigned(votes) {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "consent.base",
			Message: "The approval does not name the signers by which the earlier signed yes to gate " + d.Gate + " counts.",
			Hint:    "git agentxchain approve",
		}
	}
	return agreement.RefuseLapsed(base, d, votes, func(*run.Vote) []byte { return nil })
}
