// Earlier approvals of a gate that still waits, and that would not be given any more.

package agreement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Lapse is an approval that counted and would be refused now.
type Lapse struct {
	Vote *run.Vote
	Why  *wire.Error
}

// LapseRows returns approvals that lapsed for --json: each with its refusal.
func LapseRows(lapsed []Lapse) []*ojson.Object {
	return ojson.List(lapsed, func(l Lapse) *ojson.Object {
		row := ojson.Marshal(l.Vote)
		row.Set("refusal", ojson.NewObject("code", l.Why.Code, "message", l.Why.Message))
		return row
	})
}

// Lapsed divides the approvals that a decision on a gate builds on into those that still count and those that would be
// refused now: a rule no longer names the person, or the key was revoked since. A key that has expired or was replaced
// leaves what it signed before. statement returns the signed statement of an approval, nil if it is not at hand.
func Lapsed(base *Base, d *Decision, votes []*run.Vote, statement func(*run.Vote) []byte) (counting []*run.Vote,
	lapsed []Lapse) {
	if len(votes) == 0 {
		return nil, nil
	}
	signers, _ := base.Keys()
	for _, v := range votes {
		refusal := d.Excludes(v.Principal)
		if refusal == nil && v.Statement != "" {
			refusal = revokedSince(signers, v, statement(v))
		}
		if refusal != nil {
			lapsed = append(lapsed, Lapse{v, d.lapsed(v, refusal)})
		} else {
			counting = append(counting, v)
		}
	}
	return counting, lapsed
}

// RefuseLapsed refuses a decision that builds on an approval which would be refused now.
func RefuseLapsed(base *Base, d *Decision, votes []*run.Vote, statement func(*run.Vote) []byte) *wire.Error {
	if _, lapsed := Lapsed(base, d, votes, statement); len(lapsed) > 0 {
		return lapsed[0].Why
	}
	return nil
}

// AnySigned reports whether one of the approvals was signed, with a key that may be revoked since.
func AnySigned(votes []*run.Vote) bool {
	return slices.ContainsFunc(votes, func(v *run.Vote) bool { return v.Statement != "" })
}

// revokedSince returns why the key of an approval no longer counts, nil if it does. The owner's own revocation of it, or
// that of the authority above it, can only be found with the signature.
func revokedSince(signers *attest.Signers, v *run.Vote, envelope []byte) *wire.Error {
	if refusal := signers.Revoked(v.KeyID, v.Key); refusal != nil {
		return refusal
	}
	return RevokedBy(signers, envelope)
}

// RevokedBy returns why the key of a signed statement is revoked, nil if it is not.
func RevokedBy(signers *attest.Signers, envelope []byte) *wire.Error {
	env, refusal := attest.DecodeDSSE(envelope)
	if refusal != nil {
		return nil
	}
	st, refusal := attest.DecodeStatement(env.Payload)
	if refusal != nil {
		return nil
	}
	if _, refusal = signers.Verify(env, st.IssuedAt); refusal != nil && refusal.Code == wire.CodeSignerRevoked {
		return refusal
	}
	return nil
}

func (d *Decision) lapsed(v *run.Vote, why *wire.Error) *wire.Error {
	asks := "the next turn asks again"
	refuse, take := d.Command()+" --deny --reason TEXT", "; or "+v.Principal+" takes it back: "+d.Command()+" --withdraw"
	if d.Initiative {
		asks, take = "the next step requests it again", ""
	}
	return &wire.Error{
		Code:  why.Code,
		Field: "gates." + d.Gate,
		Message: fmt.Sprintf("The approval of %s by %s no longer counts: %s.", d.Subject(), v.Principal,
			strings.TrimSuffix(why.Message, ".")),
		Hint: refuse + " closes the gate, and " + asks + take,
	}
}
