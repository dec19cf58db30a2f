// Proving the run of a sibling: its operations applied again, from the last one
// that is known to be sound.

package gitstore

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// Verify checks the operations of a recorded run after since, "" for all of them,
// as fsck does: records, evidence, ledgers that only grow, and each operation
// applied again. Beyond fsck, what another implementation did is held to the rules
// of absorbing it, its rows to bearing each other out. A run that does not contain
// since is a finding. since must be an operation after which no claim was open.
func (out *SiblingRun) Verify(ctx context.Context, since git.OID) (*Verdict, error) {
	if out.tip == nil || out.Op == since {
		return &Verdict{Run: out.Run, Op: out.Op}, nil
	}
	f := &fsck{repo: out.s.repo, ctx: ctx, opt: FsckOptions{Replay: true}, report: &FsckReport{}, strict: true}
	met := false
	v, err := f.verify(out.tip.Reader, out.Run, out.Op, func(op git.OID) ([]Claim, bool) {
		met = met || op == since
		return nil, op == since
	})
	if err == nil && since != "" && !met {
		v.Findings = append(v.Findings, Finding{Code: record.CodeChainBroken, Run: out.Run, Op: out.Op, Message: "the run no longer contains operation " + since.Short() + ", which it had"})
	}
	return v, err
}
