// The journal of a restore, and completing or undoing it after a crash.

package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// restoreWait is how long a command waits for a live process that restores.
const restoreWait = 10 * time.Second

const restoreJournalName = "restore"

func (s *Store) restoreJournalPath() string {
	return filepath.Join(private.Dir(s.repo), restoreJournalName)
}

func (s *Store) writeRestoreJournal(j *incoming.Journal) error {
	if err := private.Write(s.repo, restoreJournalName, j.Encode()); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	return nil
}

// readRestoreJournal returns nil when no restore is in progress.
func (s *Store) readRestoreJournal() (*incoming.Journal, error) {
	data, err := private.Read(s.repo, restoreJournalName, incoming.MaxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the journal of an interrupted restore cannot be read")
	}
	j, err := incoming.DecodeJournal(data)
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the journal of an interrupted restore is damaged").
			WithHint("look at the files below %s/transactions, then remove %s", record.ProjectDir,
				s.restoreJournalPath())
	}
	return j, nil
}

func (s *Store) forgetRestore() error {
	if err := private.Remove(s.repo, restoreJournalName); err != nil {
		return err
	}
	return durable.SyncDir(private.Dir(s.repo))
}

// SettleRestore completes or undoes an interrupted restore; notice says what was done, "" when there was nothing to
// do. It waits for a live one. Every inspection of the run begins with it, because a half restored run cannot be
// shown.
func (s *Store) SettleRestore(ctx context.Context) (notice string, err error) {
	if _, err := os.Lstat(s.restoreJournalPath()); err != nil {
		return "", nil
	}
	if s.held == nil {
		lock, err := lockfile.Acquire(ctx, s.lockPath(), "completing a restore", restoreWait)
		if err != nil {
			return "", err
		}
		defer func() { _ = lock.Release() }()
	}
	swept := s.repo.SweepLocks(ctx, gitcommit.Settle)
	notice, err = s.settleRestore(ctx)
	if err == nil && notice != "" {
		notice = strings.Join(append(swept, notice), "; ")
	}
	return notice, err
}

// settleRestore is SettleRestore for the holder of the lock.
func (s *Store) settleRestore(ctx context.Context) (notice string, err error) {
	j, err := s.readRestoreJournal()
	if err != nil || j == nil {
		return "", err
	}
	if j.Ready {
		ok, err := s.restoreDecided(ctx, j)
		if err != nil {
			return "", err
		}
		if ok {
			if err := s.finishRestore(j); err != nil {
				return "", fail.Errorf(fail.CodeWorkBehind, err,
					"a restore that was interrupted could not be completed").
					WithHint("remove the cause and run the command again")
			}
			return "completed a restore that had been interrupted", nil
		}
	}
	if err := s.undoRestore(j); err != nil {
		return "", fail.Errorf(fail.CodeWorkBehind, err, "a restore that was interrupted could not be undone").
			WithHint("remove the cause and run the command again")
	}
	if j.Joins {
		return "dropped what an interrupted restore had brought", nil
	}
	return "undid a restore that had been interrupted before anything was changed", nil
}

// restoreDecided moves the refs of a prepared restore, unless that was done. It returns false when another process
// has moved the run meanwhile; no file has been touched then, as refs move first.
func (s *Store) restoreDecided(ctx context.Context, j *incoming.Journal) (bool, error) {
	for _, u := range j.Refs {
		now, err := s.repo.ReadRef(ctx, u.Name)
		if err != nil {
			return false, err
		}
		if now == u.New || now == u.Old {
			continue
		}
		// Another work tree may have continued the restored run.
		in, err := history.Ancestor(ctx, s.repo, u.New, now)
		if err != nil || !in {
			return false, err
		}
	}
	err := s.moveRestoredRefs(ctx, j)
	if code := fail.CodeOf(err); code == fail.CodeRefMoved {
		return false, nil
	}
	return err == nil, err
}

// restoreMoved reports whether the decision was made although moving the refs returned an error: the last ref is at
// its new place.
func (s *Store) restoreMoved(ctx context.Context, j *incoming.Journal) bool {
	return len(j.Refs) > 0 && s.isAt(ctx, j.Refs[len(j.Refs)-1])
}

// moveRestoredRefs makes the decision: the run's ref moves last. With working_files_behind it is made, but not
// known to be durable.
func (s *Store) moveRestoredRefs(ctx context.Context, j *incoming.Journal) error {
	var late error
	for _, u := range j.Refs {
		now, err := s.repo.ReadRef(ctx, u.Name)
		if err != nil {
			return err
		}
		if now == u.New {
			late = errors.Join(late, s.repo.SyncRefDirs([]git.RefUpdate{{Name: u.Name, New: u.New}}))
			continue
		}
		if u.Old != now {
			if in, err := history.Ancestor(ctx, s.repo, u.New, now); err == nil && in {
				continue
			}
		}
		err = s.repo.UpdateRefs(ctx, []git.RefUpdate{u}, "agentxchain: restore")
		if fail.CodeOf(err) == fail.CodeWorkBehind {
			late, err = errors.Join(late, err), nil
		}
		if err != nil {
			return err
		}
		faults.Point("restore.ref")
	}
	return late
}

// Bringing brings the objects of a bundle here, held by refs while use moves the run to them. The caller has begun a
// transaction. The next command drops what a killed one left, by the journal.
func (s *Store) Bringing(ctx context.Context, b *bundle.Bundle, use func() error) error {
	j := &incoming.Journal{Joins: true}
	var err error
	if j.Dir, err = s.keepDirFor("restore-"); err != nil {
		return err
	}
	if err := s.writeRestoreJournal(j); err != nil {
		return err
	}
	err = b.Transfer(ctx, s.repo, j.Key())
	if err == nil {
		err = use()
	}
	if end := s.endRestore(j); err != nil {
		return errorsJoin(err, end)
	}
	return nil // the run has moved; what could not be dropped now the next command drops
}

// undoRestore removes the staged files. Nothing else was changed.
func (s *Store) undoRestore(j *incoming.Journal) error {
	if err := s.sweepRestore(j); err != nil {
		return err
	}
	return s.endRestore(j)
}

// endRestore releases what was held for the restore and removes its journal.
func (s *Store) endRestore(j *incoming.Journal) error {
	if err := bundle.DropIncoming(context.Background(), s.repo, j.Key()); err != nil {
		return err
	}
	return s.forgetRestore()
}

// sweepRestore removes the staged files, and the directory unless displaced files
// are kept in it.
func (s *Store) sweepRestore(j *incoming.Journal) error {
	if err := s.work.Root.RemoveAll(j.Staged()); err != nil {
		return err
	}
	if !s.exists(j.Kept()) {
		if err := s.work.Root.RemoveAll(j.Dir); err != nil {
			return err
		}
		s.work.RemoveEmptyDir(path.Dir(j.Dir))
	}
	return nil
}
