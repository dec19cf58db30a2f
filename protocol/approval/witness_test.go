package approval

import (
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
)

func TestAWitnessSaysTheNumberOfTheOperation(t *testing.T) {
	op := strings.Repeat("a", 40)
	st := &attest.Statement{
		Decision:  attest.Witness,
		Run:       "run_1",
		Project:   "p",
		Operation: op,
		Commit:    op,
		Config:    strings.Repeat("b", 64),
		Sequence:  7,
		Principal: "ci@example.org",
		Nonce:     strings.Repeat("c", 32),
		IssuedAt:  time.UnixMilli(0).UTC(),
		ExpiresAt: time.UnixMilli(1).UTC(),
		Asked:     attest.AskedAutomation,
	}
	data, refusal := st.Encode()
	if refusal != nil {
		t.Fatal(refusal)
	}
	if got, refusal := attest.DecodeStatement(data); refusal != nil || got.Sequence != 7 {
		t.Errorf("%+v, %v; want the number 7", got, refusal)
	}
	// Unsigned, it proves nothing and reports no run as lost.
	env := (&attest.Envelope{Payload: data, Signature: []byte("none")}).EncodeDSSE()
	for _, w := range JudgeWitnesses("run_1", [][]byte{env, []byte("{}")}, nil, nil) {
		if w.Proven || w.Code != FindWitnessInvalid {
			t.Errorf("%+v; want %s", w, FindWitnessInvalid)
		}
	}
	for _, odd := range []struct {
		decision attest.Decision
		sequence int
	}{{attest.Witness, 0}, {attest.Witness, -1}, {attest.Unblock, 7}} {
		st.Decision, st.Sequence = odd.decision, odd.sequence
		if _, refusal := st.Encode(); refusal == nil {
			t.Errorf("%s with the number %d is encoded; want a refusal", odd.decision, odd.sequence)
		}
	}
}
