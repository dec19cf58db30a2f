// Fsck of approvals: what replay takes as given.

package proof

import (
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
)

// approvals checks the signed statements of a run for what no rule can see: the chain, and the commits they name.
// Replay checks what rules can see, and other tools' operations are judged elsewhere.
func (f *checker) approvals(run string, ops []chain.OpInfo) error {
	if !slices.ContainsFunc(ops, func(op chain.OpInfo) bool {
		return op.Name == "approve_transition" || op.Name == "approve_completion"
	}) {
		return nil
	}
	before := f.found()
	acts, err := acts(f.ctx, f.repo, run, ops)
	if err != nil {
		if before > 0 {
			return nil // unreadable operations are among the findings
		}
		return f.fault(run, "", err)
	}
	report, err := VerifyApprovals(f.ctx, f.repo, f.repo.Prefix, acts)
	if err != nil {
		return err
	}
	for _, v := range report.Findings {
		if v.Note || v.Code == approval.FindUnconfirmed {
			continue
		}
		f.find(Finding{
			Code:    v.Code,
			Run:     run,
			Op:      object.OID(v.Op),
			Message: v.Message,
			Repair:  f.inClone("git agentxchain verify approvals --run " + run),
		})
	}
	return nil
}

// witnessed lists what witnesses said about all runs at once: there may be thousands.
func (f *checker) witnessed() (said map[string]*witness.Said, err error) {
	if f.Said == nil {
		f.Said, err = witness.Spoken(f.ctx, f.repo, "")
	}
	return f.Said, err
}

// goneWitnessed finds runs that an allowed signer saw and that are no longer here: neither among the runs nor in
// the archive.
func (f *checker) goneWitnessed() error {
	tips, err := f.witnessed()
	if err != nil {
		return f.fault("", "", err)
	}
	if len(tips) == 0 {
		return nil
	}
	here, err := f.repo.Tips(f.ctx, git.RunRefPrefix)
	if err != nil {
		return f.fault("", "", err)
	}
	past, err := f.repo.Tips(f.ctx, archive.PastPrefix)
	if err != nil {
		return f.fault("", "", err)
	}
	list, err := archive.ReadAll(f.ctx, f.repo, archive.ListPrefix)
	if err != nil {
		return f.fault("", "", err)
	}
	for _, run := range slices.Sorted(maps.Keys(tips)) {
		if here[run] != "" || past[run] != "" || list[run] != nil {
			continue
		}
		said, err := f.judge(run, "").Judge(f.ctx, tips[run], nil)
		if err != nil {
			return f.fault(run, "", err)
		}
		i := slices.IndexFunc(said, func(w *approval.Witnessed) bool { return w.Code == approval.FindWitnessLost })
		if i < 0 {
			continue // statements of others about runs that were never here are not to be believed
		}
		f.find(Finding{
			Code:    approval.FindWitnessLost,
			Run:     run,
			Message: said[i].Message + ": the run has no ref here and is not archived",
			Repair:  f.inClone("git agentxchain sync") + ", or ask for operation " + said[i].Op + " in other clones",
		})
	}
	return nil
}

// witnesses finds operations that a witness saw and the run no longer contains.
func (f *checker) witnesses(run string, ops []chain.OpInfo) error {
	tips, err := f.witnessed()
	if err != nil {
		return f.fault(run, "", err)
	}
	if tips[run] == nil {
		return nil
	}
	chain := make(map[string]approval.ChainOp, len(ops))
	tip := object.OID("")
	for i, op := range ops {
		chain[string(op.Op)], tip = approval.ChainOp{Index: i}, op.Op
	}
	list, err := f.judge(run, tip).Judge(f.ctx, tips[run], chain)
	if err != nil {
		return f.fault(run, "", err)
	}
	for _, w := range list {
		if w.Code == approval.FindWitnessLost {
			f.find(Finding{
				Code:    w.Code,
				Run:     run,
				Message: w.Message,
				Repair: "ask for operation " + w.Op + " in other clones; " +
					f.inClone("git agentxchain verify approvals --run "+run),
			})
		}
	}
	return nil
}

// judge returns the judge of statements about a run whose newest operation is tip, "" for a missing run.
func (f *checker) judge(run string, tip object.OID) *witness.Judge {
	j := &witness.Judge{Repo: f.repo, Here: f.repo, Run: run, Tip: tip}
	if tip == "" && f.tree != nil {
		j.Project, _ = f.tree.Work().Config()
	}
	return j
}
