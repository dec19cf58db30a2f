//go:build windows

// Replacing and syncing files on Windows, where renameio does not exist and a
// directory cannot be synced through an ordinary handle.

package durable

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// stage writes and syncs a temporary file beside name; root is nil for an ordinary path. The caller must call
// exactly one of the functions: publish renames the file over name and cleans up on failure, discard removes it.
func stage(root *os.Root, name string, data []byte,
	perm fs.FileMode) (publish func() error, discard func(), err error) {
	tmp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text())
	open, rename, remove := os.OpenFile, os.Rename, os.Remove
	if root != nil {
		open, rename, remove = root.OpenFile, root.Rename, root.Remove
	}
	f, err := open(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, nil, err
	}
	discard = func() { _ = remove(tmp) }
	_, err = f.Write(data)
	faults.Point("durable.write.before")
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		discard()
		return nil, nil, err
	}
	return func() error {
		// A scanner or an editor that has the target open makes the rename fail for a moment; the retries are
		// limited to about a second.
		var err error
		for wait := time.Millisecond; ; wait *= 2 {
			if err = rename(tmp, name); err == nil || wait > 512*time.Millisecond {
				break
			}
			time.Sleep(wait)
		}
		if err != nil {
			discard()
		}
		return err
	}, discard, nil
}

func sync(f *os.File) error { return f.Sync() }

// SyncFile syncs a file that another program wrote. Windows syncs only what is open for writing: a read-only file, as
// git's objects are, is left to the program that wrote it.
func SyncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func syncDirFile(*os.File) error { return nil }
