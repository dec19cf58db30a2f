// Holding the project's lock over several transactions.

package gitstore

import (
	"context"
	"path"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Hold takes the project's lock for several transactions of this store: each Begin
// works under it and leaves it held. wait bounds the waiting. A store holds it at
// most once; the error is then of code locked, as it is for another process's.
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

// Unhold gives back a lock of Hold. It releases nothing that is not ours any more
// (lock_lost), and does nothing the second time.
func (s *Store) Unhold(l *lockfile.Lock) error {
	if s.held == l {
		s.held = nil
	}
	return l.Release()
}

// lockOf is the lock a transaction works under: the one that is held, else its own.
func (s *Store) lockOf(ctx context.Context, purpose string, wait time.Duration) (l *lockfile.Lock, borrowed bool,
	err error) {
	if s.held != nil {
		return s.held, true, s.held.Check()
	}
	l, err = lockfile.Acquire(ctx, s.lockPath(), purpose, wait)
	return l, false, err
}
