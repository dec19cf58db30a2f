// Proving the run of a sibling: its operations applied again, from the last one
// that is known to be sound.

package gitstore

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
)

// Verify checks the operations of a recorded run after since, "" for all of them,
// as fsck does: records, evidence, ledgers that only grow, and each operation
// applied again. Beyond fsck, what another implementation did is held to the rules
// of absorbing it, its rows to bearing each other out. A run that does not contain
// since is a finding. since must be an operation after which no claim was open.
func (out *SiblingRun) Verify(ctx context.Context, since object.OID) (*proof.Verdict, error) {
	if out.tip == nil || out.Op == since {
		return &proof.Verdict{Run: out.Run, Op: out.Op}, nil
	}
	return proof.VerifyStrictly(out.tip.Reader, out.s.repo, out.Run, out.Op, since)
}
