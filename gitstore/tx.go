// Tx is exclusive access to a project's run: recovery first, then operations.

package gitstore

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Tx is exclusive access to a project's run.
type Tx struct {
	store    *Store
	view     *View
	lock     *lockfile.Lock
	in       *inspection
	rec      *chain.RecordedRun // newest recorded operation of the files; nil for none
	marks    map[wire.Ledger]record.LedgerMark
	open     []proof.Claim // claims of the recorded run that no person has confirmed
	borrowed bool          // the lock outlives this transaction
	adopts   bool          // a run that another tool began is adopted
	broken   bool          // the files could not be brought to the recorded state

	opened  *openBundle // the bundle that hooks are inspecting
	commits int
	last    *View      // the view before the newest commit
	state   *run.State // decoded from what the newest commit recorded
}

// Begin locks the project and repairs what an earlier command or another tool left: it completes working files that
// are behind the recorded run, replays the reference implementation's crash journal, and records permitted changes
// of other tools as an operation of their own. View().Notices says what it did.
//
// purpose names the operation for waiting processes; wait bounds the waiting for the lock. The functions in beside
// run concurrently with the recovery, once the lock is held, and have ended when Begin returns. Errors: locked, and
// those of View.
func (s *Store) Begin(ctx context.Context, purpose string, wait time.Duration, beside ...func()) (*Tx, error) {
	if err := s.work.Mkdirs(path.Dir(wire.LockPath)); err != nil {
		return nil, lockfile.Unwritable(s.lockPath(), err)
	}
	lock, borrowed, err := s.lockOf(ctx, purpose, wait)
	if err != nil {
		return nil, err
	}
	s.repo.ForgetRefs() // changes others made before we had the lock
	tx := &Tx{store: s, lock: lock, borrowed: borrowed, adopts: purpose == PurposeAdopt}
	// Before anything inspects the work tree, where an agent would have to account for them; and also when nothing
	// is to be completed, because the file was replaced by the same text.
	s.work.RemoveTemps()
	var wg sync.WaitGroup
	for _, f := range beside {
		wg.Go(f)
	}
	err = tx.recover(ctx)
	wg.Wait()
	if err != nil {
		return nil, errors.Join(err, tx.Close())
	}
	return tx, nil
}

// Close releases the lock. It may be called more than once.
func (tx *Tx) Close() error {
	if tx.lock == nil {
		return nil
	}
	var err error
	if !tx.borrowed {
		err = tx.lock.Release()
	}
	tx.lock = nil
	if tx.commits > 0 {
		// Housekeeping, usually only a directory listing; nothing depends on it.
		_ = tx.store.repo.Compact(context.Background())
	}
	return err
}

// Again continues from the run's current state after another work tree has moved it: the working files are updated,
// and View is the new one. Errors: those of Begin.
func (tx *Tx) Again(ctx context.Context) error {
	tx.store.repo.ForgetRefs()
	tx.last, tx.state = nil, nil
	return tx.recover(ctx)
}

// Reread reads ledgers that were written since the transaction saw them, and accepts those that hold what is
// recorded, because they may have been restored. Any other content still makes the next Commit fail.
func (tx *Tx) Reread(ctx context.Context) error {
	if tx.rec == nil || tx.broken {
		return nil
	}
	s := tx.store
	var rec *chain.RecordedRun
	for _, l := range wire.Ledgers() {
		st, ok, err := s.work.Stat(l.Path())
		if err != nil {
			return unreadable(l.Path(), err)
		}
		m := tx.marks[l]
		if !ok || m.Segments == 0 || m.Stat == st {
			continue
		}
		if rec == nil {
			if rec, err = chain.At(s.reader(ctx), tx.rec.Run, tx.rec.Op); err != nil {
				return err
			}
		}
		diff, err := s.compare(rec, l)
		if err != nil {
			return err
		}
		if diff.Kind == record.Same {
			tx.marks[l] = diff.Mark
		}
	}
	return nil
}

// rollForward completes the working files and updates the cache.
func (s *Store) rollForward(in *inspection) error {
	// The process that moved the ref may have died before making that durable.
	if err := s.repo.SyncRefDirs([]git.RefUpdate{{Name: git.RunRefPrefix + in.run, New: in.tip.Op}}); err != nil {
		return err
	}
	// From here to the end the files are between two operations; the cache keeps naming the older one until they
	// are complete.
	if err := s.work.Apply(in.forward); err != nil {
		return fail.Errorf(fail.CodeWorkBehind, err, "the working files could not be brought up to operation %s",
			in.tip.Op.Short()).
			WithHint("remove the cause and run the command again")
	}
	in.tip.Marks = nil
	if err := s.dropCache(); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	s.clearEntering()
	return nil
}

// enteringNote describes the working files before a new run.
func (tx *Tx) enteringNote(run string) *entering {
	n := &entering{Run: run, Ledgers: make(map[wire.Ledger]int64), Docs: make(map[wire.Document]object.OID)}
	if tx.rec != nil {
		n.From = tx.rec.Op
	}
	for l, m := range tx.marks {
		n.Ledgers[l] = m.Stat.Size
	}
	for d, doc := range tx.in.docs {
		n.Docs[d] = tx.store.docOID(doc)
	}
	return n
}

// View returns what the run holds; each Commit renews it.
func (tx *Tx) View() *View {
	if tx.view == nil {
		tx.view = tx.renewed()
	}
	return tx.view
}

// advance moves the transaction on to the operation just recorded. The next operation's view is decoded from the
// recorded bytes, exactly as replay will decode them, and only when it is needed.
func (tx *Tx) advance(done *chain.RecordedRun, work *workdir.Plan, state *run.State) {
	in := &inspection{
		sit:     sitClean,
		run:     done.Run,
		config:  tx.in.config,
		governs: tx.in.governs,
		tip:     done,
		diffs:   make(map[wire.Ledger]*record.LedgerDiff),
		docs:    make(map[wire.Document]document),
	}
	maps.Copy(in.docs, tx.in.docs)
	for d, data := range work.Docs {
		in.docs[d] = document{data, true}
	}
	tx.rec, tx.marks, tx.in = done, done.Marks, in
	tx.last, tx.state, tx.view = tx.View(), state, nil
}

// renewed builds the view after a commit.
func (tx *Tx) renewed() *View {
	in, was := tx.in, tx.last
	v := &View{
		Run:            in.run,
		Op:             in.tip.Op,
		Config:         was.Config,
		ConfigProblems: was.ConfigProblems,
		Working:        was.Working,
		RuleChanges:    was.RuleChanges,
		RawState:       tx.state,
		Notices:        was.Notices,
		Open:           tx.open,
		Arrived:        was.Arrived,
	}
	v.setDocs(in.docs[wire.DocState], in.docs[wire.DocSession], in.docs[wire.DocHumanTasks])
	v.State, v.StateNotes = run.RepairState(v.RawState, v.Config)
	// This process has just written both; if the disk fails now, the next commit notices.
	v.Index, _ = in.tip.ReadIndex()
	v.RepoDecisions, _ = tx.store.repoDecisions(in)
	return v
}

func (s *Store) lockPath() string { return filepath.Join(s.dir, filepath.FromSlash(wire.LockPath)) }

// locked reports whether a live process holds the lock.
func (s *Store) locked() bool {
	l, err := git.ReadLock(s.lockPath())
	return err == nil && l.Held(time.Now()) != nil
}

// CatchUp updates the working files after the run of this work tree has moved. The caller holds the lock.
func (s *Store) CatchUp(ctx context.Context) error {
	in, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	if in.sit == sitBehind {
		return s.rollForward(in)
	}
	return nil
}
