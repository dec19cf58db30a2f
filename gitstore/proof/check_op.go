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
		c := &opCheck{checker: f, p: p, run: run, op: ops[i], prev: prev, newest: i == len(ops)-1}
		done, err := c.operation()
		if err := f.fault(run, ops[i].Op, err); err != nil {
			return err
		}
		based = done.based && err == nil
		f.stored.operation(p.Reader, ops[i], prev, p.made)
		p.made = nil
		// Trees of earlier operations are not needed again.
		p.Reader.KeepRightEdge(ops[i].Tree)
		p.Reader.NextOperation()
		f.progress(done.replayed, done.skipped)
	}
	return nil
}

// opCheck is the check of one operation.
type opCheck struct {
	*checker
	p      *Replayer
	run    string
	op     chain.OpInfo
	prev   object.OID // tree of the operation before it, "" for a run's first
	newest bool
}

// checked says how far the check of an operation got.
type checked struct {
	based    bool // the replayer is based on its tree
	replayed bool // it was replayed
	skipped  bool // it could not be replayed
}

// operation checks one operation of a run.
func (c *opCheck) operation() (checked, error) {
	rec, err := c.record()
	if err != nil || rec == nil {
		return checked{skipped: err == nil}, err
	}
	replayed := false
	if c.opt.Replay && rec.Op != nil && (c.prev == "" || c.p.Prev == c.prev) {
		out, whole, err := c.replay(rec)
		if whole || err != nil {
			return out, err
		}
		replayed = out.replayed
	}
	if c.opt.Replay && rec.Name != protocol.OpExternal && !protocol.Replays(rec.Rules) {
		first, last := protocol.RuleSets()
		c.compareOnly(c.op, rec.Rules, fmt.Sprintf("this version replays those of %d to %d", first, last))
	}
	// Nothing is replayed in this case; open claims are only a note.
	if confirm, ok := rec.Op.(*protocol.Confirm); ok && !c.opt.Replay && len(c.op.Parents) == 1 &&
		object.OID(confirm.Upto) == c.op.Parents[0] {
		c.saw(c.op.Op, seenOp{confirms: true})
	}
	return c.unapplied(rec, replayed)
}

// record reads the record of the operation, nil for an unreadable one.
func (c *opCheck) record() (*protocol.Record, error) {
	r, op := c.p.Reader, c.op
	root, err := r.Entries(op.Tree)
	if err != nil {
		return nil, err
	}
	if op.Run != c.run {
		c.say(FindRecord, "", "its message names the run %q", op.Run)
	}
	doc, ok, err := r.File(op.Tree, record.FileRecord)
	if err != nil {
		return nil, err
	}
	if !ok {
		c.say(FindRecord, record.FileRecord, "it has no record")
		return nil, nil
	}
	evidence, err := c.evidence(root)
	if err != nil {
		return nil, err
	}
	rec, err := protocol.DecodeRecord(doc, func(digest string) ([]byte, error) {
		data, ok := evidence[digest]
		if !ok {
			return nil, fmt.Errorf("it is not recorded")
		}
		return data, nil
	})
	if err != nil {
		c.say(FindRecord, record.FileRecord, "%v", err)
		return nil, nil
	}
	if rec.Name != op.Name {
		c.say(FindRecord, record.FileRecord, "the record is of %s, the message says %s", rec.Name,
			cmp.Or(op.Name, "nothing"))
	}
	return rec, nil
}

// replay replays the operation. whole reports that its check is complete: it arrived at what is recorded, or it
// follows rules of another time and was checked without them.
func (c *opCheck) replay(rec *protocol.Record) (out checked, whole bool, err error) {
	p, op := c.p, c.op
	before := p.State
	var diffs []string
	if c.prev == "" {
		diffs, err = p.replayFirst(op.Tree, rec)
	} else {
		diffs, err = p.Replay(op.Tree, rec)
	}
	if err != nil {
		return checked{}, false, err
	}
	if rec.Rules != protocol.RuleSet {
		if len(diffs) == 0 && p.milder {
			diffs = []string{"today's rules would refuse it"}
		}
		if len(diffs) > 0 {
			c.compareOnly(op, rec.Rules, diffs[0])
			rec.Op = nil // from here on it counts as not replayable
			out, err = c.unapplied(rec, false)
			return out, true, err
		}
	}
	for _, d := range diffs {
		c.say(FindReplay, "", "%s", d)
	}
	if len(diffs) > 0 {
		return checked{replayed: true}, false, nil
	}
	if got := wire.Digest(p.State); got != op.StateDigest {
		c.say(FindRecord, record.FileState, "the message says %s, the file is %s", cmp.Or(op.StateDigest, "nothing"),
			got)
	}
	claims, err := rulesClaim(p.Reader, rec, c.prev, op.Tree)
	c.replayed(op, rec, before, p.Last, claims, c.say)
	return checked{based: true, replayed: true}, true, err
}

// unapplied checks an operation that was not replayed, or whose replay differs.
func (c *opCheck) unapplied(rec *protocol.Record, replayed bool) (checked, error) {
	if err := c.structure(rec); err != nil || rec.Op != nil {
		return checked{replayed: replayed, skipped: rec.Op == nil}, err
	}
	return checked{skipped: true}, c.unreplayed(c.p, c.op, rec, c.prev, c.say)
}

func (c *opCheck) say(code, path, format string, args ...any) {
	c.find(Finding{Code: code, Run: c.run, Op: c.op.Op, Path: path, Message: fmt.Sprintf(format, args...)})
}

// evidence reads the operation's evidence and checks each name against its contents.
func (c *opCheck) evidence(root []object.TreeEntry) (map[string][]byte, error) {
	i := slices.IndexFunc(root, func(e object.TreeEntry) bool { return e.Name == record.DirEvidence })
	if i < 0 {
		return nil, nil
	}
	if !root[i].IsTree() {
		return nil, record.Malformed(c.op.Tree, "%s is not a directory", record.DirEvidence)
	}
	list, err := c.p.Reader.Entries(root[i].OID)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(list))
	for _, e := range list {
		data, err := c.p.Reader.Blob(e.OID)
		if err != nil {
			return nil, err
		}
		if wire.SHA256(data) != e.Name {
			c.say(FindRecord, record.DirEvidence+"/"+e.Name, "its contents have another digest")
		}
		out[e.Name] = data
	}
	return out, nil
}

// structure checks what can be checked without applying the operation.
func (c *opCheck) structure(rec *protocol.Record) error {
	r, op := c.p.Reader, c.op
	state, ok, err := r.File(op.Tree, record.FileState)
	if err != nil {
		return err
	}
	if got := wire.Digest(state); !ok || got != op.StateDigest {
		c.say(FindRecord, record.FileState, "the message says %s, the file is %s", cmp.Or(op.StateDigest, "nothing"),
			got)
	}
	c.checkState(state)
	// Only the newest index is ever used; replay checks the others.
	if c.newest {
		index, _, err := r.File(op.Tree, record.FileIndex)
		if err != nil {
			return err
		}
		if _, err := run.DecodeIndex(index); err != nil {
			c.say(FindRecord, record.FileIndex, "%v", err)
		}
	}
	for _, l := range wire.Ledgers() {
		if err := c.ledger(rec, l); err != nil {
			return err
		}
	}
	_, err = r.Slots(op.Tree, record.DirFiles, true)
	return err
}

// ledger checks that a ledger continues from the previous operation.
func (c *opCheck) ledger(rec *protocol.Record, l wire.Ledger) error {
	r, op := c.p.Reader, c.op
	if c.prev == "" {
		if hold, err := c.rowsHold(r, op.Tree, l); hold || err != nil {
			return err
		}
	}
	diff, err := r.DiffLedger(c.prev, op.Tree, l)
	if err != nil {
		return err
	}
	switch {
	case diff.Kind != record.Foreign && diff.Kind != record.Shorter:
	case rec.Op == nil && rec.Detail.Object("accepted_by") != nil:
		// A person vouched for it; the record says who and why.
		c.find(Finding{
			Code: record.CodeLedgerTampered,
			Run:  op.Run,
			Op:   op.Op,
			Path: l.Path(),
			Note: true,
			Message: fmt.Sprintf("rewritten; accepted by %s: %s", rec.Detail.Object("accepted_by").String("name"),
				cmp.Or(rec.Detail.String("reason"), "no reason given")),
		})
	default:
		c.say(record.CodeLedgerTampered, l.Path(), "%s", cmp.Or(diff.Why, "recorded rows are gone"))
	}
	if diff.Kind == record.Extended || diff.Kind == record.Amended {
		if err := diff.CheckAppended(l); err != nil {
			c.say(record.CodeLedgerTampered, l.Path(), "%s", err.Message)
		}
	}
	return nil
}

// rowsHold reports whether a ledger of a run's first operation consists of rows. It begins with the previous run's
// ledger, so each segment is read once; false leaves it to the caller to name the line.
func (f *checker) rowsHold(r *record.Reader, tree object.OID, l wire.Ledger) (bool, error) {
	if !l.JSONL() {
		_, err := r.Slots(tree, record.LedgerDir(l), false)
		return err == nil, err
	}
	return f.rows.segments(r, tree, l, func(data []byte) bool {
		return len(data) > 0 && data[len(data)-1] == '\n' && record.CheckAppended(l, 0, data) == nil
	})
}

func (c *opCheck) checkState(data []byte) {
	st, perr := run.DecodeState(data)
	if perr != nil {
		c.say(perr.Code, record.FileState, "%s", perr.Message)
		return
	}
	if st.Run() != c.op.Run {
		c.say(FindRecord, record.FileState, "the state is of run %q", st.Run())
	}
	if root, err := c.p.Reader.Entries(c.op.Tree); err == nil {
		// Without a usable configuration the state is judged as it is.
		if cfg, err := c.p.ConfigOf(root, c.op.Tree); err == nil {
			st, _ = run.RepairState(st, cfg)
		}
	}
	if p := run.CheckState(st); len(p) > 0 {
		c.say(wire.CodeInvalidState, record.FileState, "%s", p.Join())
	}
}
