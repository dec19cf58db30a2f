// Fsck of approvals: what applying an operation again takes as given.

package gitstore

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// approvals holds the signed statements of a run against what no rule can see: the chain,
// and the commits they name. What a rule can see is what replay is for, and what another
// tool did is judged elsewhere.
func (f *fsck) approvals(run string, ops []OpInfo) error {
	if !slices.ContainsFunc(ops, func(op OpInfo) bool {
		return op.Name == "approve_transition" || op.Name == "approve_completion"
	}) {
		return nil
	}
	before := f.found()
	acts, err := f.s.acts(f.ctx, run, ops)
	if err != nil {
		if before > 0 {
			return nil // what cannot be read is among the findings
		}
		return f.fault(run, "", err)
	}
	report, err := VerifyApprovals(f.ctx, f.s.repo, f.s.repo.Prefix, acts)
	if err != nil {
		return err
	}
	for _, v := range report.Findings {
		if v.Note || v.Code == protocol.FindUnconfirmed {
			continue
		}
		f.find(Finding{
			Code:    v.Code,
			Run:     run,
			Op:      git.OID(v.Op),
			Message: v.Message,
			Repair:  "git agentxchain verify approvals --run " + run,
		})
	}
	return nil
}

// witnessed lists what witnesses said, of all runs at once: there may be thousands.
func (f *fsck) witnessed() (tips map[string][]git.OID, err error) {
	if f.witnessTips == nil {
		f.witnessTips, err = f.s.witnessTips(f.ctx, "")
	}
	return f.witnessTips, err
}

// witnesses finds operations that a witness saw and the run does not hold any more.
func (f *fsck) witnesses(run string, ops []OpInfo) error {
	tips, err := f.witnessed()
	if err != nil {
		return f.fault(run, "", err)
	}
	if len(tips[run]) == 0 {
		return nil
	}
	chain := make(map[string]protocol.ChainOp, len(ops))
	for i, op := range ops {
		chain[string(op.Op)] = protocol.ChainOp{Index: i}
	}
	list, err := f.s.judgeWitnesses(f.ctx, f.s.repo, run, tips[run], chain)
	if err != nil {
		return f.fault(run, "", err)
	}
	for _, w := range list {
		if w.Code == protocol.FindWitnessLost {
			f.find(Finding{
				Code:    w.Code,
				Run:     run,
				Message: w.Message,
				Repair:  "ask for operation " + w.Op + " in other clones; git agentxchain verify approvals --run " + run,
			})
		}
	}
	return nil
}
