// Fsck of single operations: record, message, ledgers, replay.

package proof

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// check checks operations from..to-1 of a run.
func (f *checker) check(run string, ops []chain.OpInfo, from, to int) error {
	p := &Replayer{Reader: record.NewReader(f.ctx, f.repo)}
	p.Reader.RememberBlobs()
	p.Reader.NoteReads()
	based := false
	for i := from; i < to; i++ {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		prev := object.OID("")
		if i > 0 {
			prev = ops[i-1].Tree
			if f.opt.Replay && !based {
				if err := f.fault(run, ops[i-1].Op, p.Rebase(prev)); err != nil {
					return err
				}
			}
		}
		var replayed, skipped bool
		var err error
		based, replayed, skipped, err = f.operation(p, run, ops[i], prev, i == len(ops)-1)
		if err := f.fault(run, ops[i].Op, err); err != nil {
			return err
		}
		based = based && err == nil
		f.stored.operation(p.Reader, ops[i], prev, p.made)
		p.made = nil
		// Trees of earlier operations are not needed again.
		p.Reader.KeepRightEdge(ops[i].Tree)
		p.Reader.NextOperation()
		f.progress(replayed, skipped)
	}
	return nil
}

// operation checks one operation. based tells whether the replayer stands on
// its tree afterwards.
func (f *checker) operation(
	p *Replayer, run string, op chain.OpInfo, prev object.OID, newest bool,
) (based, replayed, skipped bool, err error) {
	say := func(code, path, format string, args ...any) {
		f.find(Finding{Code: code, Run: run, Op: op.Op, Path: path, Message: fmt.Sprintf(format, args...)})
	}
	root, err := p.Reader.Entries(op.Tree)
	if err != nil {
		return false, false, false, err
	}
	if op.Run != run {
		say(FindRecord, "", "its message names the run %q", op.Run)
	}
	doc, ok, err := p.Reader.File(op.Tree, record.FileRecord)
	if err != nil {
		return false, false, false, err
	}
	if !ok {
		say(FindRecord, record.FileRecord, "it has no record")
		return false, false, true, nil
	}
	evidence, err := f.evidence(p.Reader, op, root, say)
	if err != nil {
		return false, false, false, err
	}
	rec, err := protocol.DecodeRecord(doc, func(digest string) ([]byte, error) {
		data, ok := evidence[digest]
		if !ok {
			return nil, fmt.Errorf("it is not recorded")
		}
		return data, nil
	})
	if err != nil {
		say(FindRecord, record.FileRecord, "%v", err)
		return false, false, true, nil
	}
	if rec.Name != op.Name {
		say(FindRecord, record.FileRecord, "the record is of %s, the message says %s", rec.Name,
			cmp.Or(op.Name, "nothing"))
	}
	if f.opt.Replay && rec.Op != nil && (prev == "" || p.Prev == prev) {
		var diffs []string
		before := p.State
		if prev == "" {
			diffs, err = p.replayFirst(op.Tree, rec)
		} else {
			diffs, err = p.Replay(op.Tree, rec)
		}
		if err != nil {
			return false, false, false, err
		}
		if rec.Rules != protocol.RuleSet {
			if len(diffs) == 0 && p.milder {
				diffs = []string{"today's rules would refuse it"}
			}
			if len(diffs) > 0 {
				f.compareOnly(op, rec.Rules, diffs[0])
				rec.Op = nil // from here on it is what cannot be applied again
				if err := f.structure(p, op, rec, prev, newest, say); err != nil {
					return false, false, true, err
				}
				return false, false, true, f.unreplayed(p, op, rec, prev, say)
			}
		}
		for _, d := range diffs {
			say(FindReplay, "", "%s", d)
		}
		if len(diffs) == 0 {
			if got := wire.Digest(p.State); got != op.StateDigest {
				say(FindRecord, record.FileState, "the message says %s, the file is %s",
					cmp.Or(op.StateDigest, "nothing"), got)
			}
			claims, err := rulesClaim(p.Reader, rec, prev, op.Tree)
			f.replayed(op, rec, before, p.Last, claims, say)
			return true, true, false, err
		}
		replayed = true
	}
	if f.opt.Replay && rec.Name != protocol.OpExternal && !protocol.Replays(rec.Rules) {
		first, last := protocol.RuleSets()
		f.compareOnly(op, rec.Rules, fmt.Sprintf("this version replays those of %d to %d", first, last))
	}
	// Nothing is applied again then; what is open is only a note.
	if c, ok := rec.Op.(*protocol.Confirm); ok && !f.opt.Replay && len(op.Parents) == 1 &&
		object.OID(c.Upto) == op.Parents[0] {
		f.saw(op.Op, seenOp{confirms: true})
	}
	if err := f.structure(p, op, rec, prev, newest, say); err != nil || rec.Op != nil {
		return false, replayed, rec.Op == nil, err
	}
	return false, false, true, f.unreplayed(p, op, rec, prev, say)
}

// evidence reads the operation's evidence and checks each name against its
// contents.
func (f *checker) evidence(
	r *record.Reader, op chain.OpInfo, root []object.TreeEntry,
	say func(code, path, format string, args ...any),
) (map[string][]byte, error) {
	i := slices.IndexFunc(root, func(e object.TreeEntry) bool { return e.Name == record.DirEvidence })
	if i < 0 {
		return nil, nil
	}
	if !root[i].IsTree() {
		return nil, record.Malformed(op.Tree, "%s is not a directory", record.DirEvidence)
	}
	list, err := r.Entries(root[i].OID)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(list))
	for _, e := range list {
		data, err := r.Blob(e.OID)
		if err != nil {
			return nil, err
		}
		if wire.SHA256(data) != e.Name {
			say(FindRecord, record.DirEvidence+"/"+e.Name, "its contents have another digest")
		}
		out[e.Name] = data
	}
	return out, nil
}

// structure checks what can be checked without applying the operation.
func (f *checker) structure(
	p *Replayer, op chain.OpInfo, rec *protocol.Record, prev object.OID, newest bool,
	say func(code, path, format string, args ...any),
) error {
	r := p.Reader
	state, ok, err := r.File(op.Tree, record.FileState)
	if err != nil {
		return err
	}
	if got := wire.Digest(state); !ok || got != op.StateDigest {
		say(FindRecord, record.FileState, "the message says %s, the file is %s", cmp.Or(op.StateDigest, "nothing"),
			got)
	}
	f.checkState(p, op, state, say)
	// Only the newest index is ever used; what the others said is for replay.
	if newest {
		index, _, err := r.File(op.Tree, record.FileIndex)
		if err != nil {
			return err
		}
		if _, err := run.DecodeIndex(index); err != nil {
			say(FindRecord, record.FileIndex, "%v", err)
		}
	}
	for _, l := range wire.Ledgers() {
		if prev == "" {
			if hold, err := f.rowsHold(r, op.Tree, l); hold || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		diff, err := r.DiffLedger(prev, op.Tree, l)
		if err != nil {
			return err
		}
		switch {
		case diff.Kind != record.Foreign && diff.Kind != record.Shorter:
		case rec.Op == nil && rec.Detail.Object("accepted_by") != nil:
			// A person answered for it; the record says who and why.
			f.find(Finding{
				Code: record.CodeLedgerTampered,
				Run:  op.Run,
				Op:   op.Op,
				Path: l.Path(),
				Note: true,
				Message: fmt.Sprintf("rewritten; accepted by %s: %s", rec.Detail.Object("accepted_by").String("name"),
					cmp.Or(rec.Detail.String("reason"), "no reason given")),
			})
		default:
			say(record.CodeLedgerTampered, l.Path(), "%s", cmp.Or(diff.Why, "recorded rows are gone"))
		}
		if diff.Kind == record.Extended || diff.Kind == record.Amended {
			if err := diff.CheckAppended(l); err != nil {
				say(record.CodeLedgerTampered, l.Path(), "%s", err.Message)
			}
		}
	}
	_, err = r.Slots(op.Tree, record.DirFiles, true)
	return err
}

// rowsHold reports whether a ledger of a run's first operation consists of rows. It begins with what the
// ledger of the run before held, so each segment is read once; false leaves it to who names the line.
func (f *checker) rowsHold(r *record.Reader, tree object.OID, l wire.Ledger) (bool, error) {
	if !l.JSONL() {
		_, err := r.Slots(tree, record.LedgerDir(l), false)
		return err == nil, err
	}
	return f.rows.segments(r, tree, l, func(data []byte) bool {
		return len(data) > 0 && data[len(data)-1] == '\n' && record.CheckAppended(l, 0, data) == nil
	})
}

func (f *checker) checkState(
	p *Replayer, op chain.OpInfo, data []byte, say func(code, path, format string, args ...any),
) {
	st, perr := run.DecodeState(data)
	if perr != nil {
		say(perr.Code, record.FileState, "%s", perr.Message)
		return
	}
	if st.Run() != op.Run {
		say(FindRecord, record.FileState, "the state is of run %q", st.Run())
	}
	if root, err := p.Reader.Entries(op.Tree); err == nil {
		// Without a usable configuration the state is judged as it is.
		if cfg, err := p.ConfigOf(root, op.Tree); err == nil {
			st, _ = run.RepairState(st, cfg)
		}
	}
	if p := run.CheckState(st); len(p) > 0 {
		say(wire.CodeInvalidState, record.FileState, "%s", p.Join())
	}
}
