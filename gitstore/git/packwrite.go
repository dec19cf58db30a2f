// Writing a batch of objects durably as one pack with its index.
//
// A commit of the store is 15-20 small objects. As loose files each needs a sync for itself and its directory,
// about 32 syncs; as a pack the whole batch needs three (pack, index, directory), measured 2 ms against 5-20 ms on
// the same disk. syncfs(2) is not an alternative: it waits for all dirty data of other programs. Git's own "batch"
// sync mode is documented as safe only for some other systems' file systems. Compact folds the packs, so their
// number stays small.

package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// writePack stores objects as one durable pack in packDir, held until a ref reaches it. The objects must be
// distinct, verified and fewer than MaxBytes in total.
func writePack(packDir, format string, mode fs.FileMode, objects []object.Object) (*packHold, error) {
	h, err := BuildPack(packDir, format, mode, len(objects), func(p *pack.Writer) error {
		for _, o := range objects {
			if err := p.Add(o); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		h.tips = commitsIn(objects)
	}
	return h, err
}

// BuildPack writes, syncs and publishes a pack whose entries fill streams. The file that holds the pack is created
// first. The pack is written under its own name, because git looks only for indexes; "tmp_" names do not work,
// because git prune removes them during the write. The index gets its name last, when both are complete on disk.
// The next command removes what a crash leaves (StaleHolds).
func BuildPack(packDir, format string, mode fs.FileMode, count int, fill func(*pack.Writer) error) (_ *packHold,
	err error) {
	faults.Point("objects.pack.before")
	path, keep, err := newKeep(packDir, format)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = keep.Close()
		if err != nil {
			removeUnfinished(path)
			_ = os.Remove(path + KeepExt)
		}
	}()
	faults.Point("objects.pack.kept")
	file, err := os.OpenFile(path+".pack", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	w := pack.NewWriter(file, format, count)
	if err := fill(w); err != nil {
		return nil, err
	}
	if w.Count() != count {
		return nil, fmt.Errorf("pack of %d objects announced as %d", w.Count(), count)
	}
	sum, err := w.Finish(file)
	if err != nil {
		return nil, err
	}
	idx, err := os.OpenFile(path+".idx"+newExt, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = idx.Close() }()
	index := w.Index(sum)
	if _, err := idx.Write(index); err != nil {
		return nil, err
	}
	// Running concurrently, the syncs share one journal commit of the file system.
	beside := make(chan error, 2)
	go func() { beside <- seal(file, mode) }()
	go func() { beside <- keep.Sync() }()
	if err = errors.Join(seal(idx, mode), <-beside, <-beside, idx.Close()); err != nil {
		return nil, err
	}
	faults.Point("objects.pack.synced")
	// On Windows an open file cannot be renamed.
	if err := os.Rename(idx.Name(), path+".idx"); err != nil {
		return nil, err
	}
	faults.Point("objects.pack.named")
	if err := durable.SyncDir(packDir); err != nil {
		return nil, err
	}
	faults.Point("objects.pack.after")
	return &packHold{path: path, pack: file, index: index}, nil
}

// seal makes a finished file read-only, as git's are, and syncs it.
func seal(f *os.File, mode fs.FileMode) error {
	if err := f.Chmod(0o444 & mode); err != nil {
		return err
	}
	return f.Sync()
}
