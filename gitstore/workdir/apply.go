// Updating the working files, durably and with few waits for the disk.

package workdir

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

// Apply carries out the plan durably: ledgers and documents other than the state, bundles, files, then state.json,
// which other tools look at and which therefore must not name what is not there yet, and only then removals.
//
// Every file waits for the disk, so the data of all is written concurrently first; afterwards the new files are
// only renamed, in that order.
func (w *Dir) Apply(p *Plan) error {
	s := &staging{w: w}
	defer s.discard()
	for _, d := range wire.Documents() {
		if data, ok := p.Docs[d]; ok {
			if err := s.add(string(d), data); err != nil {
				return err
			}
		}
	}
	for turn, files := range p.Bundles {
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
	err := git.Parallel(len(p.Ledgers)+len(s.files), func(i int) error {
		if i < len(p.Ledgers) {
			return w.WriteLedger(p.Ledgers[i])
		}
		return s.prepare(i - len(p.Ledgers))
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
	for _, name := range p.Remove {
		if err := w.RemoveFile(name); err != nil {
			return err
		}
	}
	faults.Point("commit.after-documents")
	for turn, files := range p.Bundles {
		if err := s.closeBundle(turn, files); err != nil {
			return err
		}
	}
	faults.Point("commit.after-bundles")
	for _, f := range p.Files {
		if err := w.Write(f.Path, f.Data); err != nil {
			return err
		}
	}
	faults.Point("commit.before-state")
	// What the state names becomes durable before it: after a power cut an older file beside a newer state would be
	// mistaken for another program's work.
	if _, ok := p.Docs[wire.DocState]; ok {
		if err := s.settle(); err != nil {
			return err
		}
	}
	if err := s.publish(string(wire.DocState)); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	faults.Point("commit.after-state")
	for _, turn := range p.Unstage {
		if err := w.unstageTurn(turn, p.Proof); err != nil {
			return err
		}
	}
	for _, turn := range p.Drops {
		if err := w.DropTurn(turn, p); err != nil {
			return err
		}
	}
	for turn := range p.Bundles {
		w.OpenStaging(turn) // last: an earlier attempt's staged result is removed with its directory
	}
	return nil
}

// OpenStaging creates the directory for a turn's result, so that a person or an agent can save it where the prompt
// says. It ignores errors, because the turn is already dispatched.
func (w *Dir) OpenStaging(turn string) {
	if record.SafeName(turn) {
		_ = w.Mkdirs(path.Dir(wire.StagingPath(turn)))
	}
}

// staging holds the new contents of files until they are renamed.
type staging struct {
	w     *Dir
	files []*stagedFile
	dirs  []string // directories with names that are not durable yet
}

type stagedFile struct {
	name    string
	data    []byte
	pending *durable.Pending
}

// add adds a file and creates its directory.
func (s *staging) add(name string, data []byte) error {
	s.files = append(s.files, &stagedFile{name: name, data: data})
	return s.w.Mkdirs(path.Dir(name))
}

// prepare writes the contents of file i. It is safe for concurrent use.
func (s *staging) prepare(i int) (err error) {
	f := s.files[i]
	f.pending, err = durable.PrepareRoot(s.w.Root, f.name, f.data, 0o666)
	return err
}

// publish renames a prepared file; a file that was not added is not part of the plan.
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

// settle makes the new names since the last call durable.
func (s *staging) settle() error {
	err := git.Parallel(len(s.dirs), func(i int) error { return s.w.SyncDir(s.dirs[i]) })
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

// openBundle prepares a bundle's directory. It removes an old seal first: a bundle is complete exactly when it has
// its seal.
func (w *Dir) openBundle(turn string, files map[string][]byte) error {
	dir := wire.BundleDir(turn)
	if err := w.Mkdirs(dir); err != nil {
		return err
	}
	if err := w.RemoveFile(dir + "/" + record.BundleSeal); err != nil {
		return err
	}
	for _, name := range record.BundleFiles() {
		if _, ok := files[name]; !ok {
			if err := w.RemoveFile(dir + "/" + name); err != nil {
				return err
			}
		}
	}
	// Temporary files of a killed command are in no manifest: the bundle would not be the sealed one.
	for _, left := range durable.Temps(w.Root, dir, record.BundleFiles()...) {
		if err := w.RemoveFile(left); err != nil {
			return err
		}
	}
	return nil
}

// closeBundle renames the prepared files of a bundle, the seal last and only when the others are durable.
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

// WriteLedger makes one change to a ledger.
func (w *Dir) WriteLedger(l LedgerWrite) error {
	name := l.Ledger.Path()
	var err error
	switch {
	case l.Replace:
		err = w.Write(name, l.Data)
	case len(l.Old) > 0:
		err = durable.OverwriteRoot(w.Root, name, l.Offset, l.Old, l.Data)
	default:
		if err = w.Mkdirs(path.Dir(name)); err == nil {
			err = durable.AppendRoot(w.Root, name, l.Offset, l.Data, 0o666)
		}
	}
	faults.Point("commit.after-ledger-" + string(l.Ledger))
	return err
}

// Write replaces one file below the project directory.
func (w *Dir) Write(name string, data []byte) error {
	if err := w.Mkdirs(path.Dir(name)); err != nil {
		return err
	}
	return durable.WriteFileRoot(w.Root, name, data, 0o666)
}

// Mkdirs makes dir and its parents, durably where they are new.
func (w *Dir) Mkdirs(dir string) error {
	if dir == "." {
		return nil
	}
	if fi, err := w.Root.Stat(dir); err == nil && fi.IsDir() {
		return nil
	}
	if err := w.Mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	if err := w.Root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return w.SyncDir(path.Dir(dir))
}

// SyncDir makes the names in dir durable.
func (w *Dir) SyncDir(dir string) error { return durable.SyncDirRoot(w.Root, dir) }
