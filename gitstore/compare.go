// Comparing a working ledger with the recorded one.

package gitstore

import (
	"errors"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// recorded is a run as one operation left it.
type recorded struct {
	run   string
	op    git.OID
	root  git.OID
	r     *record.Reader
	marks map[wire.Ledger]record.LedgerMark // nil without a stat cache for op
	index []byte                            // index.json, nil when not read yet
}

// recordedAt loads what operation op of run recorded.
func (s *Store) recordedAt(r *record.Reader, run string, op git.OID) (*recorded, error) {
	c, err := r.Commit(op)
	if err != nil {
		return nil, err
	}
	return &recorded{run: run, op: op, root: c.Tree, r: r}, nil
}

// recordedFrom is recordedAt for the operation the cache is about, without
// reading an object.
func (s *Store) recordedFrom(r *record.Reader, c *statCache) *recorded {
	r.Seed(c.Trees)
	return &recorded{run: c.Run, op: c.Op, root: c.Root, r: r, marks: c.Ledgers, index: c.Index}
}

// compare relates the working file of l to the recorded one. With a stat cache
// an untouched file is not read.
func (s *Store) compare(rec *recorded, l wire.Ledger) (*record.LedgerDiff, error) {
	st, exists, err := s.work.Stat(l.Path())
	if err != nil {
		return nil, unreadable(l.Path(), err)
	}
	if mark, ok := rec.marks[l]; ok && rec.marks != nil && exists == (mark.Segments > 0) && (!exists || mark.Stat == st) {
		return &record.LedgerDiff{Mark: mark}, nil
	}
	segs, err := rec.r.Slots(rec.root, record.LedgerDir(l), false)
	if err != nil {
		return nil, err
	}
	if !exists {
		if len(segs) == 0 {
			return &record.LedgerDiff{}, nil
		}
		return &record.LedgerDiff{Kind: record.Shorter}, nil
	}
	data, st, exists, err := s.work.Read(l.Path(), workdir.MaxLedger)
	if err == nil && !exists {
		err = errors.New("it vanished while being read")
	}
	if err != nil {
		return nil, unreadable(l.Path(), err)
	}
	d, err := record.CompareSegments(rec.r, l, segs, data)
	if err != nil {
		return nil, err
	}
	d.Data, d.Mark.Stat = data, st
	return d, nil
}

// unreadable turns a failed read of a governed file into a store error.
func unreadable(name string, err error) *git.Error {
	var irregular *git.NotRegularError
	if errors.As(err, &irregular) {
		return record.TamperedDoc(name, "it must be a regular file, not a link or directory")
	}
	return git.Errorf(git.CodeUnreadable, err, "%s cannot be read", name)
}
