// A witness signs where a run stands, so that a record that is later set back is detected.

package runner

import (
	"context"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// Witnessed is what a witness said about a run, and whether it holds.
type Witnessed = approval.Witnessed

// Witness makes git's own program sign that the run, "" for the present one, stands at its newest
// operation, and keeps the statement with the run. The operations are checked first.
//
// Errors: inside_dispatched_turn, no_run, record_unproven, run_not_elsewhere,
// signing_not_configured, signing_failed.
func (r *Runner) Witness(ctx context.Context, run string) (*attest.Statement, error) {
	if err := r.personOnly("witness a run", "git agentxchain witness"); err != nil {
		return nil, err
	}
	st, err := r.store.WitnessStatement(ctx, run)
	if err != nil {
		return nil, err
	}
	st.Nonce, st.IssuedAt, st.Asked = randomSeed(), r.Now(), attest.AskedAutomation
	st.ExpiresAt = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC) // the statement never expires
	payload, refusal := st.Encode()
	if refusal != nil {
		return nil, refusal
	}
	envelope, err := consent.SignPayload(ctx, r.store.Dir(), payload)
	if err != nil {
		return nil, err
	}
	return st, witness.Add(ctx, r.store.Repository(), r.store.Env(ctx), st.Run, envelope)
}
