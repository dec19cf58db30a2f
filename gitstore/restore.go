// Restore replaces the governed files with files from elsewhere and records them as an operation, all or nothing
// (docs/restore.md).

package gitstore

import (
	"context"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// Codes of a restore, in addition to those of the store.
const (
	CodeUnfitRun  = "unfit_run" // the incoming files do not hold a run that can be recorded
	CodeNotStaged = fail.CodeIO // the incoming files cannot be written
)

// How a restored run relates to what is recorded of it.
const (
	RestoreIdle      = "no_run"    // the files hold no run
	RestoreAdopts    = "new"       // nothing of the run is recorded here
	RestoreSame      = "same"      // the files are what the newest operation recorded
	RestoreContinues = "continues" // they continue from it
	RestoreJoins     = "joins"     // both sides have new operations: those made here are decided again (travel.JoinBundle)
	RestoreReplaces  = "replaces"  // they are older or another branch of it; it stays in the run's history
)

// RestorePlan is what a restore does, or did.
type RestorePlan struct {
	incoming.Changes
	Run      string
	Op       object.OID // operation that records the files; "" before it is made
	Before   object.OID // newest operation of the run before the restore, "" for none
	Relation string     // one of the Restore constants
	Kept     string     // directory with the displaced files, "" when there are none
	Refs     []git.RefUpdate
}

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	Wait time.Duration // for waiting for the lock
	// Check is called again under the lock, before anything is touched: what was true before the lock may have
	// changed.
	Check    func(ctx context.Context) error
	Progress func(done, total int) // files staged
}

// PlanRestore determines what Restore would do. It changes nothing.
//
// Errors: unsafe_target, unfit_run, and those of reading the run.
func (s *Store) PlanRestore(ctx context.Context, in *incoming.Set) (*RestorePlan, error) {
	changes, err := in.Compare(ctx, s.work.Root)
	if err != nil {
		return nil, err
	}
	plan := &RestorePlan{Changes: *changes}
	rec, err := s.buildRestored(ctx, in, func(context.Context, []object.Object) error { return nil })
	if err != nil {
		return nil, err
	}
	rec.describe(plan)
	return plan, nil
}

// Restore carries out the plan: it stages the files beside the project's, writes the run as objects, and writes a
// journal with the steps to the git directory. From then on the restore is completed, by this process or by the
// next command; before that it is undone. Displaced files are kept.
//
// Errors before anything was changed: those of PlanRestore, locked, ref_moved. With working_files_behind the
// restore is recorded and the next command completes it.
func (s *Store) Restore(ctx context.Context, in *incoming.Set, opt RestoreOptions) (*RestorePlan, error) {
	// Refuse everything that can be refused before creating the lock's directory.
	if _, err := s.PlanRestore(ctx, in); err != nil {
		return nil, err
	}
	lock, err := lockfile.Acquire(ctx, s.lockPath(), "restore", opt.Wait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Release() }()
	s.repo.SweepLocks(ctx, gitcommit.Settle)
	if _, err := s.settleRestore(ctx); err != nil {
		return nil, err
	}
	if opt.Check != nil {
		if err := opt.Check(ctx); err != nil {
			return nil, err
		}
	}
	changes, err := in.Compare(ctx, s.work.Root)
	if err != nil {
		return nil, err
	}
	plan := &RestorePlan{Changes: *changes}
	j := &incoming.Journal{Actions: plan.Actions, Empty: plan.Empty}
	if j.Dir, err = s.keepDirFor("restore-"); err != nil {
		return nil, err
	}
	if err := s.prepareRestore(ctx, in, opt, plan, j); err != nil {
		// Objects without a ref are harmless; the rest is removed.
		return nil, errorsJoin(err, s.undoRestore(j))
	}
	if err := lock.Check(); err != nil {
		return nil, errorsJoin(err, s.undoRestore(j))
	}
	err = s.moveRestoredRefs(ctx, j)
	if err != nil && fail.CodeOf(err) != fail.CodeWorkBehind && !s.restoreMoved(ctx, j) {
		return nil, errorsJoin(err, s.undoRestore(j))
	}
	if err == nil {
		err = s.finishRestore(j)
	}
	if err != nil {
		return plan, fail.Errorf(fail.CodeWorkBehind, err,
			"the restore is decided, but the working files could not be brought into place").
			WithHint("remove the cause and run any git agentxchain command: it completes them")
	}
	if s.exists(j.Kept()) {
		plan.Kept = j.Kept()
	}
	return plan, nil
}

// prepareRestore does everything up to the decision: staged files, objects, journal.
func (s *Store) prepareRestore(ctx context.Context, in *incoming.Set, opt RestoreOptions, plan *RestorePlan,
	j *incoming.Journal) error {
	if err := s.writeRestoreJournal(j); err != nil {
		return err
	}
	faults.Point("restore.noted")
	if err := s.stageRestore(ctx, in, j, opt.Progress); err != nil {
		return err
	}
	if in.Bundle != nil {
		if err := in.Bundle.Transfer(ctx, s.repo, j.Key()); err != nil {
			return err
		}
		if err := in.Bundle.JoinWitnesses(ctx, s.repo); err != nil {
			return err
		}
	}
	rec, err := s.buildRestored(ctx, in, s.objects.Write)
	if err != nil {
		return err
	}
	if err := rec.commit(ctx, s, in); err != nil {
		return err
	}
	faults.Point("restore.objects")
	rec.describe(plan)
	j.Run, j.Refs, j.Ready = rec.run, plan.Refs, true
	if err := s.writeRestoreJournal(j); err != nil {
		return err
	}
	faults.Point("restore.ready")
	return nil
}
