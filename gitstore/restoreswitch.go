// Exchanging the files of a restore, with repeatable steps.

package gitstore

import (
	"io/fs"
	"path"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// finishRestore moves the staged files into place. Each step is skipped if it is done already, so all can be
// repeated from the start.
func (s *Store) finishRestore(j *incoming.Journal) error {
	// The cache describes the files before the restore.
	if err := s.dropCache(); err != nil {
		return err
	}
	s.clearEntering()
	sw := &restoreSwitch{w: s.work, j: j, dirs: make(map[string]bool)}
	for _, a := range j.Actions {
		if a.Action == "remove" {
			if err := sw.remove(a.Path); err != nil {
				return err
			}
			faults.Point("restore.removed")
		}
	}
	for _, a := range j.Actions {
		if a.Action == "remove" {
			continue
		}
		if a.Path == string(wire.DocState) {
			if err := sw.settle(); err != nil {
				return err
			}
			faults.Point("restore.before-state")
		}
		if err := sw.place(a.Path); err != nil {
			return err
		}
		faults.Point("restore.placed")
	}
	if err := sw.settle(); err != nil {
		return err
	}
	faults.Point("restore.after-state")
	for _, dir := range j.Empty {
		s.work.RemoveEmptyDir(dir)
	}
	s.openStaging()
	if err := s.sweepRestore(j); err != nil {
		return err
	}
	faults.Point("restore.swept")
	return s.endRestore(j)
}

// openStaging creates the staging directories of active turns.
func (s *Store) openStaging() {
	data, _, ok, err := s.work.Read(string(wire.DocState), workdir.MaxDocument)
	if err != nil || !ok {
		return
	}
	st, refusal := run.DecodeState(data)
	if refusal != nil {
		return
	}
	for id := range st.ActiveTurns.All() {
		s.work.OpenStaging(id)
	}
}

// restoreSwitch exchanges files by renaming them.
type restoreSwitch struct {
	w    *workdir.Dir
	j    *incoming.Journal
	dirs map[string]bool // directories with names that are not durable yet
}

func (sw *restoreSwitch) has(name string) bool {
	_, err := sw.w.Root.Lstat(name)
	return err == nil
}

// keep prepares the place of a displaced file.
func (sw *restoreSwitch) keep(name string) (string, error) {
	kept := sw.j.Kept() + "/" + name
	sw.dirs[path.Dir(kept)] = true
	return kept, sw.w.Mkdirs(path.Dir(kept))
}

// remove moves a file aside.
func (sw *restoreSwitch) remove(name string) error {
	if !sw.has(name) || sw.has(sw.j.Kept()+"/"+name) {
		return nil
	}
	kept, err := sw.keep(name)
	if err != nil {
		return err
	}
	if err := sw.w.Root.Rename(name, kept); err != nil {
		return err
	}
	sw.dirs[path.Dir(name)] = true
	return nil
}

// place renames a staged file into place; the file it replaces is kept. A hard link keeps the old bytes, so that
// the name is never missing.
func (sw *restoreSwitch) place(name string) error {
	staged := sw.j.Staged() + "/" + name
	if !sw.has(staged) {
		return nil // it is in place
	}
	if fi, err := sw.w.Root.Lstat(name); err == nil && fi.IsDir() {
		if err := sw.clearDirs(name); err != nil {
			return err
		}
	} else if err == nil && !sw.has(sw.j.Kept()+"/"+name) {
		kept, err := sw.keep(name)
		if err != nil {
			return err
		}
		if err := sw.w.Root.Link(name, kept); err != nil {
			if err := sw.w.Root.Rename(name, kept); err != nil {
				return err
			}
		}
	}
	if err := sw.w.Mkdirs(path.Dir(name)); err != nil {
		return err
	}
	sw.dirs[path.Dir(name)] = true
	return sw.w.Root.Rename(staged, name)
}

// clearDirs removes a directory that contains only directories.
func (sw *restoreSwitch) clearDirs(dir string) error {
	list, err := fs.ReadDir(sw.w.Root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.IsDir() {
			if err := sw.clearDirs(dir + "/" + e.Name()); err != nil {
				return err
			}
		}
	}
	return sw.w.Root.Remove(dir)
}

// settle makes the new names durable.
func (sw *restoreSwitch) settle() error {
	for dir := range sw.dirs {
		if err := sw.w.SyncDir(dir); err != nil && !git.Absent(err) {
			return err
		}
	}
	clear(sw.dirs)
	return nil
}
