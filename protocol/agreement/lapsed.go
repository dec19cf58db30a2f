// Earlier approvals of a gate that still waits, and that would not be given any more.

package agreement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Lapsed refuses a decision on a gate if one of the approvals that it builds on would be refused now: a rule no longer
// names its person, or its key was revoked since. A key that has expired or was replaced leaves what it signed before.
// It returns that approval too. statement returns the signed statement of an approval, nil if it is not at hand.
func Lapsed(base *Base, d *Decision, votes []*run.Vote, statement func(*run.Vote) []byte) (*run.Vote, *wire.Error) {
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
			return v, d.lapsed(v, refusal)
		}
	}
	return nil, nil
}

// AnySigned reports whether one of the approvals was signed, with a key that may be revoked since.
func AnySigned(votes []*run.Vote) bool {
	return slices.ContainsFunc(votes, func(v *run.Vote) bool { return v.Statement != "" })
}

// revokedSince returns why the key of an approval counts no more, nil if it does. The owner's own revocation of it, or
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
		Message: fmt.Sprintf("The yes of %s to %s counts no more: %s.", v.Principal, d.Subject(),
			strings.TrimSuffix(why.Message, ".")),
		Hint: refuse + " closes the gate, and " + asks + take,
	}
}
