// Recovery at the beginning of a transaction: finish what interrupted commands left, and bring the working files
// and the recorded run into agreement (docs/storage.md#recovery).

package gitstore

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// recover brings files and records into agreement and loads the view.
func (tx *Tx) recover(ctx context.Context) error {
	s := tx.store
	notices, err := s.settle(ctx)
	if err != nil {
		return err
	}
	in, err := s.inspect(ctx)
	if err != nil || in.sit == sitExternal {
		joined, jerr := s.SettleJoin(ctx)
		if jerr != nil {
			return jerr
		}
		if joined != "" {
			notices = append(notices, joined)
			in, err = s.inspect(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := s.refuseTouched(in); err != nil {
		return err
	}
	if in, err = tx.agree(ctx, in, &notices); err != nil {
		return err
	}
	if in.tip = tx.rec; in.tip != nil {
		in.sit = sitClean
	}
	tx.in, tx.open = in, in.open
	switch turn, err := tx.settleLeft(ctx); {
	case err != nil:
		return err
	case turn != "":
		notices = append(notices, "put the dispatch bundle of turn "+turn+
			" back as it is recorded; the command that was writing it had been ended")
	}
	if tx.view, err = s.viewOf(in); err != nil {
		return err
	}
	tx.view.Notices = append(tx.view.Notices, notices...)
	return nil
}

// settle finishes what interrupted commands left: git's locks, decisions, a restore, journals of the reference. The
// notices say what it did.
func (s *Store) settle(ctx context.Context) (notices []string, err error) {
	s.repo.DropStaleMidx()
	swept := s.repo.SweepLocks(ctx, gitcommit.Settle)
	decided, err := decision.SettleNoted(ctx, s.repo)
	if err != nil {
		return nil, err
	}
	settled, err := s.settleRestore(ctx)
	if err != nil {
		return nil, err
	}
	// What an interrupted command held, after its decisions are settled.
	s.dropStaleHolds()
	if err := s.refuseJournals(); err != nil {
		return nil, err
	}
	replayed, err := s.replayJournals(ctx)
	if err != nil {
		return nil, err
	}
	if settled != "" {
		notices = append(notices, settled)
	}
	return slices.Concat(notices, swept, decided, replayed), nil
}

// agree brings the working files to the recorded run, or records what another tool did to them. It returns the
// inspection that holds afterwards.
func (tx *Tx) agree(ctx context.Context, in *inspection, notices *[]string) (*inspection, error) {
	s := tx.store
	switch in.sit {
	case sitBehind:
		in, err := s.catchUp(ctx, in, notices)
		if err != nil {
			return nil, err
		}
		return in, tx.atTip(in)
	case sitClean:
		return in, tx.atTip(in)
	case sitExternal:
		files := in.changedFiles()
		rec, err := s.absorb(ctx, in, nil)
		if err != nil {
			return nil, err
		}
		*notices = append(*notices, describeExternal(files, rec.Op))
		return in, tx.atNew(ctx, in, rec)
	case sitAdopt:
		if !tx.adopts {
			return nil, in.unadopted()
		}
		rec, err := s.adopt(ctx, in, nil)
		if err != nil {
			return nil, err
		}
		*notices = append(*notices,
			"recorded run "+in.run+", which another tool started (operation "+rec.Op.Short()+")")
		return in, tx.atNew(ctx, in, rec)
	case sitIdle:
		var err error
		tx.marks, err = s.workingMarks()
		return in, err
	}
	return in, nil
}

// atTip continues from the newest operation, where the files are.
func (tx *Tx) atTip(in *inspection) error {
	s := tx.store
	tx.rec, tx.marks = in.tip, in.marksAt()
	if in.tip.Marks != nil && !in.reread() {
		return nil
	}
	// A full check, because there was no cache or files were copied or touched, need not be repeated.
	in.tip.Marks = tx.marks
	if err := s.repo.SyncRefDirs(
		[]git.RefUpdate{{Name: git.RunRefPrefix + in.run, New: in.tip.Op}}); err != nil {
		return err
	}
	if _, err := in.tip.ReadIndex(); err != nil {
		return err
	}
	if err := s.saveCache(in.tip); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	return nil
}

// atNew continues from an operation that the recovery itself recorded.
func (tx *Tx) atNew(ctx context.Context, in *inspection, rec *chain.RecordedRun) error {
	tx.rec, tx.marks = rec, rec.Marks
	return tx.store.pass(ctx, in, in.run, rec.Op)
}

// catchUps bounds how often other work trees may advance the run while this one's files are being completed.
const catchUps = 20

// catchUp brings working files that are behind to the newest operation; other work trees may advance the run
// meanwhile.
func (s *Store) catchUp(ctx context.Context, in *inspection, notices *[]string) (*inspection, error) {
	for try := 0; in.sit == sitBehind && try < catchUps; try++ {
		if err := s.rollForward(in); err != nil {
			return nil, err
		}
		*notices = append(*notices, "completed the working files of run "+in.run+" up to operation "+in.tip.Op.Short())
		*notices = append(*notices, proof.ArrivalNotices(in.arrived)...)
		s.repo.ForgetRefs()
		var err error
		if in, err = s.inspect(ctx); err != nil {
			return nil, err
		}
	}
	if in.sit != sitClean {
		return nil, fail.Errorf(CodeStateMoved, nil,
			"the working files changed while they were being completed").WithHint("run the command again")
	}
	return in, nil
}

// reread reports whether a ledger had to be read to find it unchanged.
func (in *inspection) reread() bool {
	for _, d := range in.diffs {
		if d.Data != nil {
			return true
		}
	}
	return false
}

// marksAt returns the marks of the unchanged ledgers.
func (in *inspection) marksAt() map[wire.Ledger]record.LedgerMark {
	marks := make(map[wire.Ledger]record.LedgerMark)
	for l, d := range in.diffs {
		marks[l] = d.Mark
	}
	return marks
}

// workingMarks describes ledgers that no run recorded, so that changes during the transaction are noticed.
func (s *Store) workingMarks() (map[wire.Ledger]record.LedgerMark, error) {
	marks := make(map[wire.Ledger]record.LedgerMark)
	for _, l := range wire.Ledgers() {
		st, ok, err := s.work.Stat(l.Path())
		if err != nil {
			return nil, unreadable(l.Path(), err)
		}
		if ok {
			marks[l] = record.LedgerMark{Segments: 1, Stat: st}
		}
	}
	return marks, nil
}
