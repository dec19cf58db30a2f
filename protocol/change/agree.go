// People's agreement to a decision: checked for the moment of the operation, counted, and kept.

package change

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// MaxReason bounds the reason that a person gives, in bytes: it appears in the next agent's prompt.
const MaxReason = 4000

// ReasonTooLong refuses a reason of more than MaxReason bytes.
func ReasonTooLong(reason string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Field:   "reason",
		Message: fmt.Sprintf("The reason has %d bytes; %d are the most.", len(reason), MaxReason),
	}
}

// Moment returns the operation's moment for a consent.
func (t *Draft) Moment() *agreement.Moment {
	return &agreement.Moment{
		Run:   t.State.Run(),
		Spent: t.State.SpentNonces,
		Rules: config.RulesDigest(t.Config),
		Head:  t.Env.Git.Head,
		Actor: t.Env.Actor,
		Now:   t.Env.Now,
	}
}

// KeepProof records the statements that counted, and marks them as used.
func (t *Draft) KeepProof(sum *agreement.Tally) {
	t.State.SpentNonces = append(t.State.SpentNonces, sum.Nonces...)
	for _, f := range sum.Files {
		t.Write(f.Path, f.Blob.Data)
	}
}

// Agree counts the people who agree to an act that overrules the record. It does not wait: statements of others are
// handed in with it.
func (t *Draft) Agree(d *agreement.Decision, c *agreement.Consent) *wire.Error {
	if len(d.Rules) == 0 && len(c.Given()) == 0 {
		return nil
	}
	sum, refusal := t.Moment().Agree(c, d)
	if refusal != nil {
		return refusal
	}
	if !sum.Reached() {
		return &wire.Error{
			Code:  wire.CodeApprovalsMissing,
			Field: "statements",
			Message: fmt.Sprintf("%d of %d people have agreed to this act (%s).",
				len(sum.Votes), sum.Need, d.Rules[0].People()),
			Hint: d.Command() + " --sign --statement FILE, a statement of each of the others, who write theirs with " +
				d.Command() + " --sign --to FILE",
		}
	}
	t.KeepProof(sum)
	t.Agreed = sum.Votes
	return nil
}

// Voters returns who agreed, for the record.
func (t *Draft) Voters() []*ojson.Object { return run.VoteRows(t.Agreed) }
