// A workspace on disk: one change at a time, under a lock (docs/coordinator.md#files-and-refs).

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Store is a coordinator's workspace. Every path it reads or writes is inside the workspace; it does not follow
// symbolic links out of it.
type Store struct {
	dir  string
	root *os.Root
}

// Open opens the workspace at dir; it needs no configuration yet. Close it after use. The error is unreadable_file.
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

// IsWorkspace reports whether a directory is the workspace of an initiative and not itself a governed project. err
// is the result of looking the directory up.
func IsWorkspace(dir string, err error) bool {
	if err != nil {
		return false
	}
	multi, merr := os.Stat(filepath.Join(dir, initiative.ConfigFile))
	_, perr := os.Stat(filepath.Join(dir, wire.ConfigPath))
	return merr == nil && multi.Mode().IsRegular() && errors.Is(perr, fs.ErrNotExist)
}

// Close releases the directory.
func (s *Store) Close() error { return s.root.Close() }

// Read reads the workspace. It takes no lock and writes nothing: a change in progress may be visible in part, but
// derived data always follows from the history that was read. Errors: those of Update before its function runs,
// except locked.
func (s *Store) Read() (*Documents, error) {
	d, e := read(s.root, s.dir, false)
	if e != nil {
		return nil, e
	}
	return d, nil
}

// Update reads the workspace, calls decide for a change and applies it, all under the workspace's lock, for which
// it waits up to wait; purpose is a word for waiting processes. It returns what was read before the change.
//
// Errors: config_missing, invalid_coordinator_config, workstream_cycle, invalid_json, no_coordinator_run,
// invalid_state, unreadable_file, locked, io_failed, and what decide returns; then nothing was written, unless the
// code is io_failed.
func (s *Store) Update(ctx context.Context, purpose string, wait time.Duration,
	decide func(*Documents) (*initiative.Change, *wire.Error)) (*Documents, *initiative.Change, error) {
	tx, err := s.lock(ctx, purpose, wait, false)
	if err != nil {
		return nil, nil, err
	}
	defer tx.close()
	before := *tx.Docs
	c, e := decide(tx.Docs)
	if e != nil {
		return &before, nil, e
	}
	if err := tx.commit(c); err != nil {
		return &before, nil, err
	}
	return &before, c, nil
}

func failed(name string, err error) *wire.Error {
	e := &wire.Error{
		Code:    "unreadable_file",
		Field:   name,
		Message: fmt.Sprintf("%s cannot be read: %s.", name, reason(err)),
	}
	if errors.Is(err, errLink) {
		e.Hint = "put the file itself in its place, and commit it"
	}
	return e
}

func writeNew(root *os.Root, f initiative.File) error {
	if f.Keep {
		if _, err := root.Lstat(f.Path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := root.MkdirAll(path.Dir(f.Path), 0o777); err != nil {
		return err
	}
	return durable.WriteFileRoot(root, f.Path, f.Data, 0o666)
}

func noConfig(dir string) *wire.Error {
	e := &wire.Error{
		Code:    initiative.CodeConfigMissing,
		Field:   initiative.ConfigFile,
		Message: fmt.Sprintf("There is no %s in %s.", initiative.ConfigFile, dir),
		Hint: "run this in the directory that holds " + initiative.ConfigFile + ", or name it with -C; " + Program +
			" multi new PATH... writes one",
	}
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(initiative.StatePath))); err == nil {
		e.Hint = "an initiative is under way here; the file as it was committed: git checkout HEAD -- " + initiative.ConfigFile
		return e
	}
	for below, up := dir, filepath.Dir(dir); up != below; below, up = up, filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, initiative.ConfigFile)); err == nil {
			e.Hint = "there is one above: " + Program + " -C " + wire.ShellWord(up) + " multi status"
			break
		}
	}
	return e
}
