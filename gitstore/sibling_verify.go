// Proving the run of a sibling: its operations applied again, from the last one
// that is known to be sound.

package gitstore

import (
	"context"
	"iter"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Verify checks the operations of a recorded run after since, "" for all of them,
// as fsck does: records, evidence, ledgers that only grow, and each operation
// applied again. Beyond fsck, what another implementation did is held to the rules
// of absorbing it. It returns the findings and how many operations were checked; a
// run that does not contain since is a finding.
func (out *SiblingRun) Verify(ctx context.Context, since OID) (findings []Finding, ops int, err error) {
	if out.tip == nil || out.Op == since {
		return nil, 0, nil
	}
	f := &fsck{s: out.x.store, ctx: ctx, opt: FsckOptions{Replay: true}, report: &FsckReport{}}
	list, met, err := out.chain(ctx, since)
	if err != nil {
		err = f.fault(out.Run, "", err)
		return f.report.Findings, 0, err
	}
	from := 0
	switch {
	case met:
		from = 1 // the first of the list is the sound one
	case since != "":
		f.find(Finding{Code: CodeChainBroken, Run: out.Run, Op: out.Op, Message: "the run no longer contains operation " + since.Short() + ", which it had"})
	default:
		f.shape(out.Run, list)
	}
	f.total = len(list)
	if err := f.check(out.Run, list, from, len(list)); err != nil {
		return nil, 0, err
	}
	for i := max(from, 1); i < len(list); i++ {
		if err := f.fault(out.Run, list[i].Op, f.external(out.tip.r, list[i-1], list[i])); err != nil {
			return nil, 0, err
		}
	}
	for _, v := range f.report.Findings {
		if !v.Note {
			findings = append(findings, v)
		}
	}
	return findings, len(list) - from, nil
}

// maxSiblingOps bounds the operations of a run that are read at once.
const maxSiblingOps = 200000

// chain lists the operations from since, or the first one, to the tip.
func (out *SiblingRun) chain(ctx context.Context, since OID) (list []OpInfo, met bool, err error) {
	for op := out.Op; !met && op != ""; {
		if err := ctx.Err(); err != nil {
			return nil, false, context.Cause(ctx)
		}
		if len(list) == maxSiblingOps {
			return nil, false, errorf(CodeChainBroken, nil, "run %s has more than %d operations", out.Run, maxSiblingOps)
		}
		c, err := out.tip.r.commit(op)
		if err != nil {
			return nil, false, err
		}
		info := OpInfo{Op: op, Parents: c.Parents, Tree: c.Tree}
		info.readMessage(c.Message)
		list = append(list, info)
		met = op == since
		if op = ""; len(c.Parents) > 0 {
			op = c.Parents[0]
		}
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, met, nil
}

// external holds an operation that cannot be applied again, above all the record
// of another implementation's work, to what is asked of such work when it is
// absorbed, unless a person has answered for it.
func (f *fsck) external(r *treeReader, before, op OpInfo) error {
	doc, _, err := r.file(op.Tree, treeRecord)
	if err != nil {
		return err
	}
	rec, err := ojson.DecodeObject(doc)
	rules, known := rec.Int("rules")
	if err != nil || rec.String("op") != protocol.OpExternal && known && rules == protocol.RuleSet || rec.Object("detail").Object("accepted_by") != nil {
		return nil // applied again, said to be no record, or answered for by a person
	}
	added := make(map[protocol.Ledger][]byte)
	for _, l := range []protocol.Ledger{protocol.LedgerHistory, protocol.LedgerEvents, protocol.LedgerDecisions} {
		d, err := r.diffLedger(before.Tree, op.Tree, l)
		if err != nil {
			return err
		}
		added[l] = d.appended
	}
	rows := func(l protocol.Ledger) iter.Seq[protocol.Line] { return rowsOf(added[l]) }
	was, _, err := r.file(before.Tree, treeState)
	if err != nil {
		return err
	}
	now, _, err := r.file(op.Tree, treeState)
	if err != nil {
		return err
	}
	a, e := protocol.DecodeState(was)
	b, e2 := protocol.DecodeState(now)
	if e != nil || e2 != nil {
		return nil // said of the operations themselves
	}
	if e := protocol.CheckExternal(a, b, rows); e != nil {
		return tamperedDoc(string(protocol.DocState), "%s", e.Message)
	}
	return borneOut(was, now, rows)
}
