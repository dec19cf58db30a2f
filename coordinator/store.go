// A workspace on disk: one change at a time, under a lock (spec/04 §2, §21.10).

package coordinator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Store is a coordinator's workspace. Every path it reads or writes stays inside
// the workspace; symbolic links out of it are not followed.
type Store struct {
	dir  string
	root *os.Root
}

// Open opens the workspace at dir; it needs no configuration yet. Close it. The
// error is unreadable_file.
func Open(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, failed(abs, err)
	}
	return &Store{dir: abs, root: root}, nil
}

// Close releases the directory.
func (s *Store) Close() error { return s.root.Close() }

// Dir returns the workspace's absolute path.
func (s *Store) Dir() string { return s.dir }

// Read reads the workspace. It takes no lock and writes nothing: a change that
// is being carried out may be visible in part, but what is derived is derived
// from the history that was read. Errors: those of Update before its function
// runs, except locked.
func (s *Store) Read() (*Documents, error) {
	d, e := read(s.root, s.dir, false)
	if e != nil {
		return nil, e
	}
	return d, nil
}

// Update reads the workspace, asks decide for a change and carries it out, all
// under the workspace's lock, for which it waits up to wait; purpose is a word
// for whoever waits. It returns what was read before the change.
//
// Errors: config_missing, invalid_coordinator_config, workstream_cycle,
// invalid_json, no_coordinator_run, invalid_state, unreadable_file, locked,
// io_failed, and what decide returns; then nothing was written, unless the code
// is io_failed.
func (s *Store) Update(ctx context.Context, purpose string, wait time.Duration, decide func(*Documents) (*Change, *protocol.Error)) (*Documents, *Change, error) {
	return s.update(ctx, purpose, wait, false, decide)
}

// Begin is Update for a workspace that may have no initiative yet; State is nil
// then.
func (s *Store) Begin(ctx context.Context, wait time.Duration, decide func(*Documents) (*Change, *protocol.Error)) (*Documents, *Change, error) {
	return s.update(ctx, "start", wait, true, decide)
}

func (s *Store) update(ctx context.Context, purpose string, wait time.Duration, fresh bool, decide func(*Documents) (*Change, *protocol.Error)) (*Documents, *Change, error) {
	// The directory is opened below the root before the lock is made by its name.
	if err := s.root.MkdirAll(Dir, 0o777); err != nil {
		return nil, nil, failed(Dir, err)
	}
	lock, err := gitstore.AcquireLock(ctx, filepath.Join(s.dir, filepath.FromSlash(lockPath)), purpose, wait)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = lock.Release() }()

	abandoned, err := finish(s.root)
	if err != nil {
		return nil, nil, failed(pendingPath, err)
	}
	d, e := read(s.root, s.dir, fresh)
	if e != nil {
		return nil, nil, e
	}
	d.Findings = append(d.Findings, abandoned...)
	c, e := decide(d)
	if e != nil {
		return d, nil, e
	}
	if err := lock.Check(); err != nil {
		return d, nil, err
	}
	if err := carryOut(s.root, d.steps(c)); err != nil {
		return d, nil, &protocol.Error{Code: "io_failed", Field: Dir, Message: fmt.Sprintf("The coordinator's files could not be written: %v", err),
			Hint: "nothing is lost: the next command completes the change"}
	}
	return d, c, nil
}

func failed(name string, err error) *protocol.Error {
	return &protocol.Error{Code: "unreadable_file", Field: name, Message: fmt.Sprintf("%s cannot be read: %s.", name, reason(err))}
}
