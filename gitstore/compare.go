// Comparing a working ledger with the recorded one.

package gitstore

import (
	"errors"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// recordedFrom is chain.At for the operation in the cache, without reading an object.
func (s *Store) recordedFrom(r *record.Reader, c *statCache) *chain.RecordedRun {
	r.Seed(c.Trees)
	return &chain.RecordedRun{Run: c.Run, Op: c.Op, Root: c.Root, Reader: r, Marks: c.Ledgers, Index: c.Index}
}

// compare compares the working file of l with the recorded one. With a stat cache it does not read an untouched
// file.
func (s *Store) compare(rec *chain.RecordedRun, l wire.Ledger) (*record.LedgerDiff, error) {
	st, exists, err := s.work.Stat(l.Path())
	if err != nil {
		return nil, unreadable(l.Path(), err)
	}
	if mark, ok := rec.Marks[l]; ok && rec.Marks != nil && exists == (mark.Segments > 0) &&
		(!exists || mark.Stat == st) {
		return &record.LedgerDiff{Mark: mark}, nil
	}
	segs, err := rec.Reader.Slots(rec.Root, record.LedgerDir(l), false)
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
	d, err := record.CompareSegments(rec.Reader, l, segs, data)
	if err != nil {
		return nil, err
	}
	d.Data, d.Mark.Stat = data, st
	return d, nil
}

// unreadable turns a read error of a governed file into a store error.
func unreadable(name string, err error) *fail.Error {
	if _, ok := errors.AsType[*git.NotRegularError](err); ok {
		return record.TamperedDoc(name, "it must be a regular file, not a link or directory")
	}
	return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", name).WithHint("%s", failures.Remedy(name, err))
}
