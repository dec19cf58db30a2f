// Holding the project's lock over several transactions.

package gitstore

import (
	"context"
	"path"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Hold takes the project's lock for several transactions of this store: each Begin uses it and leaves it held. wait
// bounds the waiting. A store can hold it only once; the error then has the code locked, as for another process's
// lock.
func (s *Store) Hold(ctx context.Context, purpose string, wait time.Duration) (*lockfile.Lock, error) {
	if err := s.work.Mkdirs(path.Dir(wire.LockPath)); err != nil {
		return nil, lockfile.Unwritable(s.lockPath(), err)
	}
	if s.held != nil {
		wait = 0 // it cannot become free while we wait for ourselves
	}
	l, err := lockfile.Acquire(ctx, s.lockPath(), purpose, wait)
	if err != nil {
		return nil, err
	}
	s.held = l
	return l, nil
}

// Unhold releases a lock taken with Hold. It releases nothing that is no longer ours (lock_lost), and does nothing
// the second time.
func (s *Store) Unhold(l *lockfile.Lock) error {
	if s.held == l {
		s.held = nil
	}
	return l.Release()
}

// lockOf returns the lock for a transaction: the one being held, else a new one.
func (s *Store) lockOf(ctx context.Context, purpose string, wait time.Duration) (l *lockfile.Lock, borrowed bool,
	err error) {
	if s.held != nil {
		return s.held, true, s.held.Check()
	}
	l, err = lockfile.Acquire(ctx, s.lockPath(), purpose, wait)
	return l, false, err
}
