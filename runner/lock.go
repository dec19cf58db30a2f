// Locks besides those of operations: who moves the run for a while, and who alone does something.

package runner

import (
	"context"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
)

// Held is the acceptance lock while a caller holds it.
type Held struct {
	Outcome
	lock *lockfile.Lock
}

// Lost is closed when the lock has another owner: another implementation takes over a lock that
// looks too old to it. This damages nothing, as the compare-and- swap of the run's ref decides, but
// there is no point in continuing.
func (h *Held) Lost() <-chan struct{} { return h.lock.Lost() }

// AcquireLock takes the acceptance lock for several operations in a row. It is the lock that every
// operation takes for itself: operations of this Runner work under it, those of others wait as long
// as their Options.LockWait says and then fail with the code locked, which names the owner. purpose
// is a word shown to waiting processes.
//
// The lock belongs to this process. ReleaseLock and Close give it back; when the process dies, for
// any reason, the next command takes it over. "git agentxchain doctor" shows who holds it. An
// approval or another person's decision waits as well, so hold it for moments, never while an agent
// works.
//
// Errors: locked (another owner, or this Runner holds it already), interrupted.
func (r *Runner) AcquireLock(ctx context.Context, purpose string) (*Held, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	l, err := r.store.Hold(ctx, purpose, r.opt.LockWait)
	if err != nil {
		return &Held{Outcome: OutcomeOf(err)}, err
	}
	return &Held{Outcome: OutcomeOf(nil), lock: l}, nil
}

// ReleaseLock releases the lock. Only its owner can: a lock that has a new owner is left alone
// (lock_lost). Releasing twice does nothing.
func (r *Runner) ReleaseLock(h *Held) error {
	if h == nil || h.lock == nil {
		return nil
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	return r.store.Unhold(h.lock)
}

// locksDir holds a lock file for each thing that only one process of the work tree does.
const locksDir = ".agentxchain/locks"

// only makes this process the only one that does what the lock file names, as long as it lives or until the lock is
// released. The error has the code locked and names the other process.
func (r *Runner) only(ctx context.Context, name, purpose string) (*lockfile.Lock, error) {
	path, err := r.lockPlace(name)
	if err != nil {
		return nil, err
	}
	return lockfile.Acquire(ctx, path, purpose, 0)
}

// lockPlace returns the path of a lock file whose directory exists.
func (r *Runner) lockPlace(name string) (string, error) {
	if err := r.store.MakeDir(locksDir); err != nil {
		return "", err
	}
	return filepath.Join(r.store.Dir(), filepath.FromSlash(locksDir), name), nil
}
