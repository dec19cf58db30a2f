// Sweeping the locks of killed commands before the store works.

package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
)

// SweepLocks takes the project's lock and removes what killed processes of ours have left behind: git's lock files,
// held packs, and half-written files of ours. It returns notices of what it did.
func (s *Store) SweepLocks(ctx context.Context, wait time.Duration) ([]string, error) {
	lock, borrowed, err := s.lockOf(ctx, "doctor", wait)
	if err != nil {
		return nil, err
	}
	if !borrowed {
		defer func() { _ = lock.Release() }()
	}
	notices := s.sweep(ctx)
	for _, name := range s.work.RemoveTemps() {
		notices = append(notices, fmt.Sprintf("removed %s, which an interrupted command had left", name))
	}
	return notices, nil
}

// SweepWorkspace is SweepLocks for the repository of a workspace, whose lock the caller holds.
func (s *Store) SweepWorkspace(ctx context.Context) []string { return s.sweep(ctx) }

func (s *Store) sweep(ctx context.Context) []string {
	notices := s.repo.SweepLocks(ctx, gitcommit.Settle)
	stale := s.repo.StaleHolds(false)
	s.dropStaleHolds()
	for _, h := range stale {
		if _, err := os.Lstat(h.Path); errors.Is(err, fs.ErrNotExist) {
			notices = append(notices, fmt.Sprintf("released a pack that %s had held (%s)", h.By, h.Path))
		}
	}
	return notices
}

// dropStaleHolds releases what interrupted commands held, unless one of them was a restore in another work tree,
// which a command there continues.
func (s *Store) dropStaleHolds() {
	if len(s.repo.StaleHolds(false)) == 0 {
		return
	}
	for _, pattern := range []string{"agentxchain/*/restore", "worktrees/*/agentxchain/*/restore"} {
		if found, err := filepath.Glob(filepath.Join(s.repo.CommonDir, filepath.FromSlash(pattern))); err != nil ||
			len(found) > 0 {
			return
		}
	}
	s.repo.StaleHolds(true)
}
