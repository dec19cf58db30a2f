// Votes for a gate: who has approved it, and whether that is enough.

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// gateDecision is the decision an approval is about.
func (t *transition) gateDecision(kind, gate, to string, a *Approval) *decision {
	return &decision{
		kind:     attest.Approve,
		gate:     gate,
		gateType: kind,
		phase:    t.s.Phase,
		to:       to,
		evidence: a.Files,
		rules:    GateRules(t.cfg, a.Consent, gate),
		votes:    t.s.GateVotes,
	}
}

// GateRules are the rules that an approval of the gate has to hold: those the run is
// judged by and those of the protected branch, so that neither weakens the other.
func GateRules(cfg *config.Config, c *Consent, gate string) []*config.GateRule {
	var out []*config.GateRule
	if r := cfg.GateRule(gate); r != nil {
		out = append(out, r)
	}
	if base := c.baseConfig(); base != nil {
		if r := base.GateRule(gate); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// baseConfig is the configuration of the protected branch, nil without one.
func (c *Consent) baseConfig() *config.Config {
	if c == nil || c.Base == nil || c.Base.Config == nil {
		return nil
	}
	return config.DecodeGoverning(c.Base.Config.Data)
}

// count adds the people who agree now to those who did; false when more have to, which
// is recorded and leaves the gate waiting.
func (a *Approval) count(t *transition, res *ApproveResult, d *decision) (passed bool, refusal *wire.Error) {
	sum, refusal := t.agree(a.Consent, d)
	if refusal != nil {
		return false, refusal
	}
	s := t.s
	res.Votes, res.Dropped, res.Needed, res.Passed = sum.votes, sum.dropped, sum.need, sum.reached()
	if a.Reason = wire.TrimSpace(a.Reason); len(a.Reason) > maxDenial {
		return false, tooLong(a.Reason)
	}
	if a.Reason != "" {
		newest := *sum.votes[len(sum.votes)-1]
		if newest.Statement == "" {
			newest.Reason = a.Reason
			sum.votes[len(sum.votes)-1] = &newest
		}
	}
	s.SpentNonces = append(s.SpentNonces, sum.nonces...)
	t.files = append(t.files, sum.files...)
	if res.Passed {
		return true, nil
	}
	s.GateVotes = sum.votes
	t.append(wire.LedgerDecisions, a.row(t, res, "human_approval_vote", ""))
	t.event(run.EventGateVote, nil, "gate_type", d.gateType, "gate_id", d.gate,
		"votes", len(sum.votes), "votes_needed", sum.need)
	t.session = "gate_vote"
	t.subject = fmt.Sprintf("vote for %s: %d of %d", d.gate, len(sum.votes), sum.need)
	return false, nil
}

// granted records who approved, why and what.
func (a *Approval) granted(t *transition, res *ApproveResult, by string) {
	t.talk("approves", "gate "+res.Gate, a.Reason)
	t.append(wire.LedgerDecisions, a.row(t, res, "human_approval", by))
}

func (a *Approval) row(t *transition, res *ApproveResult, kind, by string) *ojson.Object {
	h := ledger.HumanApproval{
		Type:            kind,
		GateType:        res.GateType,
		GateID:          res.Gate,
		FromPhase:       res.From,
		ToPhase:         res.To,
		RequestedByTurn: by,
		Approver:        t.env.Actor,
		Reason:          a.Reason,
		At:              t.env.Time(),
	}
	if t.cfg.Authority != nil || len(a.Consent.statements()) > 0 {
		h.Votes, h.Needed, h.Evidence = res.Votes, res.Needed, a.Files
	}
	return ledger.NewHumanApprovalEntry(h)
}

func (c *Consent) statements() []*evidence.Blob {
	if c == nil {
		return nil
	}
	return c.Statements
}

func tooLong(reason string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Field:   "reason",
		Message: fmt.Sprintf("The reason has %d bytes; %d are the most.", len(reason), maxDenial),
	}
}
