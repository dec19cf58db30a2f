//go:build !windows

// Replacing and syncing files where renameio and directory fsync exist.

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/google/renameio/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// stage writes and syncs a temporary file beside name; root is nil for an ordinary path. The caller must call
// exactly one of the functions: publish renames the file over name and cleans up on failure, discard removes it.
func stage(root *os.Root, name string, data []byte,
	perm fs.FileMode) (publish func() error, discard func(), err error) {
	opts := []renameio.Option{renameio.WithPermissions(perm)}
	if root != nil {
		opts = append(opts, renameio.WithRoot(root))
	} else {
		// Without a directory renameio may choose TMPDIR when it is on the same mount; we would not clean up a
		// temporary file elsewhere.
		opts = append(opts, renameio.WithTempDir(parent(name)))
	}
	f, err := renameio.NewPendingFile(name, opts...)
	if err != nil {
		return nil, nil, err
	}
	discard = func() { _ = f.Cleanup() }
	_, err = f.Write(data)
	faults.Point("durable.write.before")
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		discard()
		return nil, nil, err
	}
	return func() error {
		defer discard() // does nothing after success
		// It syncs again, which costs nothing because nothing is left to write.
		return f.CloseAtomicallyReplace()
	}, discard, nil
}

func parent(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[:max(i, 1)]
		}
	}
	return "."
}

func sync(f *os.File) error { return f.Sync() }

// SyncFile syncs a file that another program wrote, which may be read-only.
func SyncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDirFile tolerates the errors of file systems that cannot sync a directory at all (some network and FUSE
// ones): nothing better can be done there, and failing would make the tool unusable on them.
func syncDirFile(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) {
		return nil
	}
	return err
}
