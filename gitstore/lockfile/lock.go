// Taking, renewing and releasing a lock.

package lockfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// heartbeat is how often a held lock renews acquired_at. The reference implementation takes over any lock older
// than git.lockMaxAge, even of a live process (docs/spec/lifecycle.md#accepting-a-turn), so a long operation must
// keep its lock young.
const heartbeat = 10 * time.Second

// fileTick is the longest tick of the clocks that timestamp files.
const fileTick = 20 * time.Millisecond

// Lock is a held lock. Release it exactly once; later calls do nothing.
type Lock struct {
	path  string
	owner git.LockOwner

	// Inherited says that the lock was taken over from an owner that died.
	Inherited bool

	stop chan struct{}
	done sync.WaitGroup
	lost chan struct{}
	once sync.Once
	loss sync.Once
}

// Acquire takes the lock file at path, whose directory it creates, for purpose (a word shown to a waiting process).
// It tries for at most wait; zero or less tries once. The error has the code locked and wraps a *git.LockedError naming the
// owner, or io_failed where the file cannot be written; when ctx ends first it wraps ctx's cause.
//
// The file has the reference's shape, {"owner_pid","acquired_at"}, and more keys of ours. An owner with our keys
// holds it as long as the same process lives; one without our keys, or on another machine, as in the reference:
// while it is alive and the lock younger than 30 s.
func Acquire(ctx context.Context, path, purpose string, wait time.Duration) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, Unwritable(path, err)
	}
	l := &Lock{
		path: path, owner: git.NewOwner(purpose),
		stop: make(chan struct{}), lost: make(chan struct{}),
	}
	deadline := time.Now().Add(wait)
	pause := 2 * time.Millisecond
	for {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("waiting for %s was interrupted: %w", path, context.Cause(ctx))
		}
		holder, err := l.try()
		if err != nil {
			return nil, Unwritable(path, err)
		}
		if holder == nil {
			faults.Point("lock.acquired")
			l.done.Go(l.beat)
			return l, nil
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, fail.Errorf(fail.CodeLocked, holder, "another command is at work on this project").
				WithHint("wait for it to end; if that process hangs, end it, and the next command takes the lock over")
		}
		// Jitter keeps many waiters out of step.
		sleep := pause/2 + time.Duration(mrand.Int64N(int64(pause)))
		t := time.NewTimer(min(sleep, left))
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
		pause = min(pause*2, 50*time.Millisecond)
	}
}

// Serve is Acquire for a server, which tries once and holds the lock as long as it serves: other processes would
// wait for it forever, so the hint says how to end it.
func Serve(ctx context.Context, path, purpose string) (*Lock, error) {
	l, err := Acquire(ctx, path, purpose, 0)
	var e *fail.Error
	var holder *git.LockedError
	if errors.As(err, &e) && errors.As(err, &holder) && holder.PID != 0 {
		e.Message = "git agentxchain " + purpose + " runs for this project already"
		e.Hint = fmt.Sprintf("use that server; or end it, with Ctrl-C where it runs or by its process id %d, "+
			"and start this one again", holder.PID)
	}
	return l, err
}

// Unwritable returns the error for a lock that cannot be written, held or not.
func Unwritable(path string, err error) error {
	if _, ok := errors.AsType[*git.NotRegularError](err); ok {
		return fail.Errorf(fail.CodeIO, err, "the lock cannot be taken").
			WithHint("see what made it, then move it away or remove it")
	}
	hint := fail.WritableHint(filepath.Dir(filepath.Dir(path)), err)
	return fail.Errorf(fail.CodeIO, err, "the lock %s cannot be written", path).
		WithHint("%s", cmp.Or(hint, "git agentxchain doctor says what stands in the way; then try again"))
}

// try makes one attempt; holder is the process in the way.
func (l *Lock) try() (holder *git.LockedError, err error) {
	// Our processes inspect, take over and create one at a time, so that a lock judged dead cannot be replaced by a
	// live one before it is moved away. The kernel releases the guard when its owner dies.
	release, err := waitGuard(l.path, 200*time.Millisecond)
	if err != nil {
		return nil, err
	}
	if release == nil {
		// There are many waiters. Name the owner if there is one.
		if found, err := git.ReadLock(l.path); err == nil {
			if h := found.Held(time.Now()); h != nil {
				return h, nil
			}
		}
		return &git.LockedError{Purpose: "taking the lock"}, nil
	}
	defer release()
	for range 3 {
		l.owner.Acquired = time.Now()
		err := createExclusive(l.path, l.owner.Encode(), l.owner.Token)
		if err == nil {
			sweepSides(l.path)
			return nil, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		found, err := git.ReadLock(l.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // released in between
		}
		if err != nil {
			return nil, err
		}
		if h := found.Held(time.Now()); h != nil {
			return h, nil
		}
		if h, err := takeAway(l.path, found, l.owner.Token); err != nil || h != nil {
			return h, err
		}
		l.Inherited = true
	}
	return &git.LockedError{Purpose: "changing hands"}, nil
}

// takeAway moves a dead lock out of the way. The guard excludes our own processes; the reference may still write
// its lock between our check and our move, so compare what was moved with what was judged, and put it back if it
// differs.
func takeAway(path string, judged *git.FileLock, token string) (*git.LockedError, error) {
	aside := sidePath(path, token, "dead")
	if err := os.Rename(path, aside); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	moved, err := git.ReadLock(aside)
	if err == nil && string(moved.Raw) != string(judged.Raw) {
		if h := moved.Held(time.Now()); h != nil {
			// Link does not overwrite: a lock created by another process in this instant stays.
			_ = os.Link(aside, path)
			_ = os.Remove(aside)
			return h, nil
		}
	}
	return nil, os.Remove(aside)
}

// Ahead returns how far the clock of the lock's file system is ahead of this machine's, negative when it is behind
// and 0 when the difference is too small to tell. It is derived from the lock file, so call it right after Acquire.
func (l *Lock) Ahead() time.Duration {
	found, err := git.ReadLock(l.path)
	if err != nil || found.Token != l.owner.Token {
		return 0
	}
	if behind := found.Written.Sub(found.Acquired); behind < -fileTick {
		return behind
	}
	return max(0, time.Until(found.Written))
}

// Lost is closed when the lock file was found to be gone or another owner's: another implementation took it over.
// The owner should stop before its commit point; the ref's compare-and-swap protects the run in any case.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Check reads the lock file and returns lock_lost when it is no longer ours.
func (l *Lock) Check() error {
	found, err := git.ReadLock(l.path)
	if err == nil && found.Token == l.owner.Token {
		return nil
	}
	l.loss.Do(func() { close(l.lost) })
	return fail.Errorf(fail.CodeLockLost, err, "the lock %s was taken over by another process", l.path).
		WithHint("run the command again")
}

// Release ends the heartbeat and removes the lock file if it is still ours.
func (l *Lock) Release() error {
	var err error
	l.once.Do(func() {
		close(l.stop)
		l.done.Wait()
		var release func()
		if release, err = ownerGuard(l.path); err != nil {
			return
		}
		defer release()
		if err = l.Check(); err == nil {
			err = os.Remove(l.path)
		}
	})
	return err
}

// beat renews acquired_at while the lock is held.
func (l *Lock) beat() {
	t := time.NewTicker(heartbeat)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			if fail.CodeOf(l.renew()) == fail.CodeLockLost {
				return
			}
		}
	}
}

// renew replaces the file by one with the current time. The guard keeps it from overwriting a successor of our
// kind.
func (l *Lock) renew() error {
	release, err := ownerGuard(l.path)
	if err != nil {
		return err
	}
	defer release()
	if err := l.Check(); err != nil {
		return err
	}
	next := l.owner
	next.Acquired = time.Now()
	tmp := sidePath(l.path, l.owner.Token, "new")
	if err := os.WriteFile(tmp, next.Encode(), 0o644); err != nil {
		return err
	}
	if err := os.Rename(tmp, l.path); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return nil
}

// createExclusive makes the file appear with its whole content or not at all: a reader never sees an empty lock.
// Where there are no hard links the file is created and then filled; readers tolerate a torn one for
// git.lockTornAge.
func createExclusive(path string, data []byte, token string) error {
	tmp := sidePath(path, token, "new")
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp) }()
	err := os.Link(tmp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, xerr := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if xerr != nil {
		return xerr
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}

// sidePath returns the name of a temporary file of ours beside the lock.
func sidePath(path, token, what string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+token+"."+what)
}

// sweepSides removes temporary files of processes killed under the guard. We hold the guard, so no process of ours
// is using one.
func sweepSides(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) < 2 {
		return
	}
	prefix := "." + filepath.Base(path) + "."
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// ownerGuard takes the guard for owners, who must get it.
func ownerGuard(path string) (release func(), err error) {
	release, err = waitGuard(path, 5*time.Second)
	if err == nil && release == nil {
		err = fail.Errorf(fail.CodeLocked, nil, "the directory of %s stays locked by another process", path)
	}
	return release, err
}

// waitGuard takes the guard within patience; release is nil when it could not. The sections under the guard are
// only a few system calls.
func waitGuard(path string, patience time.Duration) (release func(), err error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		release, ok, err := guard(path)
		if err != nil || ok {
			return release, err
		}
		if time.Now().After(deadline) {
			return nil, nil
		}
	}
}
