// Bringing the working files up to date, durably and with few waits for the disk.

package gitstore

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// apply carries the plan out durably: ledgers and documents other than the
// state, bundles, files, then state.json, which is what other tools look at and
// so must not name what is not there yet, and only then removals.
//
// Every file waits for the disk, so the data of all is written side by side
// first; afterwards the new files only take their names, in that order.
func (w *workDir) apply(p *workPlan) error {
	s := &staging{w: w}
	defer s.discard()
	for _, d := range wire.Documents() {
		if data, ok := p.docs[d]; ok {
			if err := s.add(string(d), data); err != nil {
				return err
			}
		}
	}
	for turn, files := range p.bundles {
		if err := w.openBundle(turn, files); err != nil {
			return err
		}
		if err := w.removeSupplements(p, turn, files); err != nil {
			return err
		}
		for name, data := range files {
			if err := s.add(wire.BundleDir(turn)+"/"+name, data); err != nil {
				return err
			}
		}
	}
	err := git.Parallel(len(p.ledgers)+len(s.files), func(i int) error {
		if i < len(p.ledgers) {
			return w.writeLedger(p.ledgers[i])
		}
		return s.prepare(i - len(p.ledgers))
	})
	if err != nil {
		return err
	}
	for _, d := range wire.Documents() {
		if d != wire.DocState {
			if err := s.publish(string(d)); err != nil {
				return err
			}
		}
	}
	for _, name := range p.remove {
		if err := w.removeFile(name); err != nil {
			return err
		}
	}
	faults.Point("commit.after-documents")
	for turn, files := range p.bundles {
		if err := s.closeBundle(turn, files); err != nil {
			return err
		}
	}
	faults.Point("commit.after-bundles")
	for _, f := range p.files {
		if err := w.write(f.Path, f.Data); err != nil {
			return err
		}
	}
	faults.Point("commit.before-state")
	if err := s.publish(string(wire.DocState)); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	faults.Point("commit.after-state")
	for _, turn := range p.unstage {
		if err := w.unstageTurn(turn, p.proof); err != nil {
			return err
		}
	}
	for _, turn := range p.drops {
		if err := w.dropTurn(turn, p); err != nil {
			return err
		}
	}
	return nil
}

// staging holds the new contents of files on their way to their names.
type staging struct {
	w     *workDir
	files []*stagedFile
	dirs  []string // hold names that are not durable yet
}

type stagedFile struct {
	name    string
	data    []byte
	pending *durable.Pending
}

// add announces a file and makes its directory.
func (s *staging) add(name string, data []byte) error {
	s.files = append(s.files, &stagedFile{name: name, data: data})
	return s.w.mkdirs(path.Dir(name))
}

// prepare writes the contents of file i. It may run beside itself.
func (s *staging) prepare(i int) (err error) {
	f := s.files[i]
	f.pending, err = durable.PrepareRoot(s.w.root, f.name, f.data, 0o666)
	return err
}

// publish gives a prepared file its name; one that was not announced is not
// part of the plan.
func (s *staging) publish(name string) error {
	i := slices.IndexFunc(s.files, func(f *stagedFile) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	if dir := path.Dir(name); !slices.Contains(s.dirs, dir) {
		s.dirs = append(s.dirs, dir)
	}
	return s.files[i].pending.Publish()
}

// settle makes the names given since the last call durable.
func (s *staging) settle() error {
	err := git.Parallel(len(s.dirs), func(i int) error { return s.w.syncDir(s.dirs[i]) })
	s.dirs = nil
	faults.Point("durable.write.after")
	return err
}

func (s *staging) discard() {
	for _, f := range s.files {
		if f.pending != nil {
			f.pending.Discard()
		}
	}
}

// openBundle prepares a bundle's directory. An old seal is removed first: a
// bundle is complete exactly when it has its seal.
func (w *workDir) openBundle(turn string, files map[string][]byte) error {
	dir := wire.BundleDir(turn)
	if err := w.mkdirs(dir); err != nil {
		return err
	}
	if err := w.removeFile(dir + "/" + record.BundleSeal); err != nil {
		return err
	}
	for _, name := range record.BundleFiles() {
		if _, ok := files[name]; !ok {
			if err := w.removeFile(dir + "/" + name); err != nil {
				return err
			}
		}
	}
	// What a killed command was writing here is in no manifest: the bundle would not
	// be the one that was sealed.
	for _, left := range w.tempsIn(dir, record.BundleFiles()) {
		if err := w.removeFile(left); err != nil {
			return err
		}
	}
	return nil
}

// closeBundle puts the prepared files of a bundle into place, the seal last and
// only when the others are there for good.
func (s *staging) closeBundle(turn string, files map[string][]byte) error {
	dir := wire.BundleDir(turn)
	for name := range files {
		if name != record.BundleSeal {
			if err := s.publish(dir + "/" + name); err != nil {
				return err
			}
		}
	}
	if err := s.settle(); err != nil {
		return err
	}
	return s.publish(dir + "/" + record.BundleSeal)
}

func (w *workDir) writeLedger(l ledgerWrite) error {
	name := l.ledger.Path()
	var err error
	switch {
	case l.replace:
		err = w.write(name, l.data)
	case len(l.old) > 0:
		err = durable.OverwriteRoot(w.root, name, l.offset, l.old, l.data)
	default:
		if err = w.mkdirs(path.Dir(name)); err == nil {
			err = durable.AppendRoot(w.root, name, l.offset, l.data, 0o666)
		}
	}
	faults.Point("commit.after-ledger-" + string(l.ledger))
	return err
}

// write replaces one file below the project directory.
func (w *workDir) write(name string, data []byte) error {
	if err := w.mkdirs(path.Dir(name)); err != nil {
		return err
	}
	return durable.WriteFileRoot(w.root, name, data, 0o666)
}

// mkdirs makes dir and its parents, durably where they are new.
func (w *workDir) mkdirs(dir string) error {
	if dir == "." {
		return nil
	}
	if fi, err := w.root.Stat(dir); err == nil && fi.IsDir() {
		return nil
	}
	if err := w.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	if err := w.root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return w.syncDir(path.Dir(dir))
}

func (w *workDir) syncDir(dir string) error { return durable.SyncDirRoot(w.root, dir) }
