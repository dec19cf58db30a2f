// Judges what witnesses said of a run (docs/teams.md#witnesses).

package approval

import (
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of findings about witnesses.
const (
	FindWitnessLost    = "witness_lost"    // a witness saw the run at an operation that the run no longer has
	FindWitnessInvalid = "witness_invalid" // note: not a valid statement, or not of an allowed signer
)

// Witnessed is one statement of a witness.
type Witnessed struct {
	Op        string
	Sequence  int
	At        time.Time
	Principal string
	KeyID     string
	Proven    bool   // signed by an allowed key, and the run has the operation there
	Code      string // why it is not proven
	Message   string
}

// JudgeWitnesses judges signed statements about a run: whether an allowed signer made them, and whether the run
// still has what they saw. Without signers nothing is proven. A missing operation counts as lost only with a valid
// signature: anyone can push a statement.
func JudgeWitnesses(run string, envelopes [][]byte, signers *attest.Signers, chain map[string]ChainOp) []*Witnessed {
	var out []*Witnessed
	for _, data := range envelopes {
		w := &Witnessed{Code: FindWitnessInvalid}
		out = append(out, w)
		env, refusal := attest.DecodeDSSE(data)
		if refusal != nil {
			w.Message = refusal.Message
			continue
		}
		st, refusal := attest.DecodeStatement(env.Payload)
		switch {
		case refusal != nil:
			w.Message = refusal.Message
			continue
		case st.Decision != attest.Witness || st.Run != run || st.Commit != st.Operation:
			w.Message = "the statement is not that of a witness of this run"
			continue
		}
		w.Op, w.Sequence, w.At, w.Principal, w.KeyID = st.Operation, st.Sequence, st.IssuedAt, st.Principal,
			env.Signer()
		if refusal := signedBy(signers, env, st); refusal != nil {
			w.Message = refusal.Message
			continue
		}
		op, held := chain[st.Operation]
		if !held || op.Index+1 != st.Sequence {
			w.Code = FindWitnessLost
			w.Message = fmt.Sprintf(
				"%s signed at %s that the run stood at operation %.10s, number %d, and the run does not hold it there",
				st.Principal, wire.FormatTime(st.IssuedAt), st.Operation, st.Sequence)
			continue
		}
		w.Proven, w.Code = true, ""
	}
	return out
}

// signedBy refuses a statement that its principal did not sign with an allowed key.
func signedBy(signers *attest.Signers, env *attest.Envelope, st *attest.Statement) *wire.Error {
	if signers == nil {
		return &wire.Error{Code: wire.CodeSignerUnknown, Message: "the files that say who may sign are not here"}
	}
	sig, refusal := signers.Verify(env, st.IssuedAt)
	if refusal != nil {
		return refusal
	}
	return sig.SpeaksFor(st.Principal)
}
