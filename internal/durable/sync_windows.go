//go:build windows

// Replacing and syncing files on Windows, where renameio does not exist and a
// directory cannot be synced through an ordinary handle.
package durable

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

func replace(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	tmp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text())
	open, rename, remove := os.OpenFile, os.Rename, os.Remove
	if root != nil {
		open, rename, remove = root.OpenFile, root.Rename, root.Remove
	}
	f, err := open(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	faults.Point("durable.write.before")
	// A scanner or an editor that has the target open makes the rename fail
	// for a moment; the retries are bounded to about a second.
	for wait := time.Millisecond; err == nil; wait *= 2 {
		if err = rename(tmp, name); err == nil || wait > 512*time.Millisecond {
			break
		}
		time.Sleep(wait)
		err = nil
	}
	if err != nil {
		_ = remove(tmp)
		return err
	}
	faults.Point("durable.write.renamed")
	return nil
}

func sync(f *os.File) error { return f.Sync() }

func syncDirFile(*os.File) error { return nil }
