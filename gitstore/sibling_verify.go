// Proving the run of a sibling: replaying its operations from the last one that is known to be sound.

package gitstore

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
)

// Verify checks the operations of a recorded run after since, "" for all of them, as fsck does: records, evidence,
// ledgers that only grow, and each operation by replay. Beyond fsck, another implementation's operations must
// satisfy the rules of absorbing, and their rows must support each other. A run that does not contain since is a
// finding. since must be an operation after which no claim was open.
func (out *SiblingRun) Verify(ctx context.Context, since object.OID) (*proof.Verdict, error) {
	if out.tip == nil || out.Op == since {
		return &proof.Verdict{Run: out.Run, Op: out.Op}, nil
	}
	return proof.VerifyStrictly(out.tip.Reader, out.s.repo, out.Run, out.Op, since)
}
