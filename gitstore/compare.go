// Comparing a working ledger with the recorded one.

package gitstore

import (
	"bytes"
	"errors"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// diffKind is how a working ledger relates to a recorded one.
type diffKind int

const (
	diffSame     diffKind = iota // byte for byte
	diffExtended                 // the recorded bytes, then more lines
	diffAmended                  // like extended, and lines were amended as the protocol allows
	diffShorter                  // a proper prefix of the recorded bytes, or absent
	diffForeign                  // anything else
)

// ledgerDiff is the outcome of a comparison.
type ledgerDiff struct {
	kind     diffKind
	mark     ledgerMark     // of the recorded ledger; Stat is the working file's
	appended []byte         // diffExtended, diffAmended
	amends   []ledger.Amend // diffAmended
	data     []byte         // the working file, when it had to be read
	line     int            // diffForeign: 1-based line of the first difference, 0 when there is none
	why      string         // diffForeign: what is wrong with it
}

// recorded is a run as one operation left it.
type recorded struct {
	run   string
	op    git.OID
	root  git.OID
	r     *treeReader
	marks map[wire.Ledger]ledgerMark // nil without a stat cache for op
	index []byte                     // index.json, nil when not read yet
}

// recordedAt loads what operation op of run recorded.
func (s *Store) recordedAt(r *treeReader, run string, op git.OID) (*recorded, error) {
	c, err := r.commit(op)
	if err != nil {
		return nil, err
	}
	return &recorded{run: run, op: op, root: c.Tree, r: r}, nil
}

// recordedFrom is recordedAt for the operation the cache is about, without
// reading an object.
func (s *Store) recordedFrom(r *treeReader, c *statCache) *recorded {
	for oid, raw := range c.Trees {
		r.known[oid] = raw
	}
	return &recorded{run: c.Run, op: c.Op, root: c.Root, r: r, marks: c.Ledgers, index: c.Index}
}

// compare relates the working file of l to the recorded one. With a stat cache
// an untouched file is not read.
func (s *Store) compare(rec *recorded, l wire.Ledger) (*ledgerDiff, error) {
	st, exists, err := s.work.stat(l.Path())
	if err != nil {
		return nil, unreadable(l.Path(), err)
	}
	if mark, ok := rec.marks[l]; ok && rec.marks != nil && exists == (mark.Segments > 0) && (!exists || mark.Stat == st) {
		return &ledgerDiff{mark: mark}, nil
	}
	segs, err := rec.r.slots(rec.root, ledgerTreePath(l), false)
	if err != nil {
		return nil, err
	}
	if !exists {
		if len(segs) == 0 {
			return &ledgerDiff{}, nil
		}
		return &ledgerDiff{kind: diffShorter}, nil
	}
	data, st, exists, err := s.work.read(l.Path(), maxLedger)
	if err == nil && !exists {
		err = errors.New("it vanished while being read")
	}
	if err != nil {
		return nil, unreadable(l.Path(), err)
	}
	d, err := compareSegments(rec.r, l, segs, data)
	if err != nil {
		return nil, err
	}
	d.data, d.mark.Stat = data, st
	return d, nil
}

// compareSegments walks data along the recorded segments. Segments nobody
// amended are recognised by hash without reading them.
func compareSegments(r *treeReader, l wire.Ledger, segs []git.OID, data []byte) (*ledgerDiff, error) {
	d := &ledgerDiff{mark: ledgerMark{Segments: len(segs)}}
	off := 0
	for i, oid := range segs {
		rest := data[off:]
		n := guessSegment(rest)
		if git.HashObject(r.format, git.KindBlob, rest[:n]) != oid {
			seg, err := r.blob(oid)
			if err != nil {
				return nil, err
			}
			if !bytes.HasPrefix(rest, seg) {
				if bytes.HasPrefix(seg, rest) {
					d.kind = diffShorter
					return d, nil
				}
				return compareLines(r, l, segs, i, off, data)
			}
			n = len(seg)
		}
		off += n
		d.mark.Tail = n
	}
	d.mark.Size = int64(off)
	if len(data) > off || len(segs) == 0 {
		// A ledger that is there but was not before is a change even when empty.
		d.kind, d.appended = diffExtended, data[off:]
	}
	return d, nil
}

// compareLines looks for permitted amendments from segment i on, whose bytes
// begin at off and differ.
func compareLines(r *treeReader, l wire.Ledger, segs []git.OID, i, off int, data []byte) (*ledgerDiff, error) {
	var old []byte
	d := &ledgerDiff{kind: diffForeign, mark: ledgerMark{Segments: len(segs), Size: int64(off)}}
	for _, oid := range segs[i:] {
		seg, err := r.blob(oid)
		if err != nil {
			return nil, err
		}
		old = append(old, seg...)
		d.mark.Tail = len(seg)
	}
	d.mark.Size += int64(len(old))
	line := bytes.Count(data[:off], []byte("\n"))
	rest := data[off:]
	for _, was := range lines(old) {
		line++
		if len(rest) == 0 {
			d.line, d.why = line, "this and later lines are gone"
			return d, nil
		}
		end := lineEnd(rest)
		now := bytes.TrimSuffix(rest[:end], []byte("\n"))
		rest = rest[end:]
		if bytes.Equal(was, now) {
			continue
		}
		if !l.JSONL() {
			d.line, d.why = line, "recorded text was rewritten"
			return d, nil
		}
		if why := amendment(l, was, now); why != "" {
			d.line, d.why = line, why
			return d, nil
		}
		d.amends = append(d.amends, ledger.Amend{Ledger: l, Old: was, New: now})
	}
	d.kind, d.appended = diffAmended, rest
	return d, nil
}

// amendment says why now may not replace was, or "" when it may: a checkpoint
// adds members to a history row (docs/spec/lifecycle.md#checkpoints), an override marks a repo
// decision (docs/spec/state.md#repository-decisions), and a writer may spell the same values differently.
func amendment(l wire.Ledger, was, now []byte) string {
	a, errA := ojson.DecodeObject(was)
	b, errB := ojson.DecodeObject(now)
	switch {
	case errB != nil:
		return "the recorded row was replaced by something that is not a JSON object (" + errB.Error() + ")"
	case errA != nil:
		return "the recorded row was rewritten"
	}
	a, b = a.Clone(), b.Clone()
	switch l {
	case wire.LedgerHistory:
		if b.Has("files_changed_recovered_at") && !a.Has("files_changed_recovered_at") {
			if !superset(a, b, "files_changed") || !superset(a.Object("observed_artifact"), b.Object("observed_artifact"), "files_changed") {
				return "a recovery removed files from the recorded row"
			}
			for _, o := range []*ojson.Object{a, b, a.Object("observed_artifact"), b.Object("observed_artifact")} {
				o.Delete("files_changed")
			}
		}
		for _, key := range []string{"checkpoint_sha", "checkpointed_at", "files_changed_recovered_at", "files_changed_recovery_source"} {
			if a.Has(key) && b.Has(key) {
				continue
			}
			b.Delete(key)
		}
	case wire.LedgerRepoDecisions:
		if a.String("status") == "active" && b.String("status") == "overridden" && b.String("overridden_by") != "" {
			for _, key := range []string{"status", "overridden_by"} {
				a.Delete(key)
				b.Delete(key)
			}
		}
	}
	if !ojson.Equal(a, b) {
		return "the recorded row was rewritten"
	}
	return ""
}

// superset reports whether b's array key holds every string of a's.
func superset(a, b *ojson.Object, key string) bool {
	have := make(map[string]bool)
	for _, s := range b.Strings(key) {
		have[s] = true
	}
	for _, s := range a.Strings(key) {
		if !have[s] {
			return false
		}
	}
	return true
}

// checkAppended validates lines another tool added after line number before.
func checkAppended(l wire.Ledger, before int, data []byte) *git.Error {
	if !l.JSONL() {
		return nil
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return tampered(l, before+bytes.Count(data, []byte("\n"))+1, "the last line has no end; another tool was interrupted while writing it")
	}
	for n, line := range lines(data) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if _, err := ojson.DecodeObject(line); err != nil {
			return tampered(l, before+n, "the added line is not a JSON object (%v)", err)
		}
	}
	return nil
}

// unreadable turns a failed read of a governed file into a store error.
func unreadable(name string, err error) *git.Error {
	var irregular *git.NotRegularError
	if errors.As(err, &irregular) {
		return tamperedDoc(name, "it must be a regular file, not a link or directory")
	}
	return git.Errorf(git.CodeUnreadable, err, "%s cannot be read", name)
}
