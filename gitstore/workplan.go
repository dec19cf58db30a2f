// Bringing the working files from one recorded operation to a later one.

package gitstore

import (
	"errors"
	"io/fs"
	"path"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// workPlan is everything that brings the working files from one operation to a
// later one.
type workPlan struct {
	ledgers []ledgerWrite // in Ledgers order
	docs    map[protocol.Document][]byte
	bundles map[string]map[string][]byte // turn -> file -> bytes
	files   []protocol.FileWrite
	drops   []string               // turns whose bundle and staged result go
	remove  []string               // documents an operation no longer has
	proof   func(data []byte) bool // whether these bytes are kept by a recorded operation
}

// ledgerWrite appends data at offset, or replaces the whole file.
type ledgerWrite struct {
	ledger  protocol.Ledger
	offset  int64
	data    []byte
	replace bool
}

// apply carries the plan out durably: ledgers and documents other than the
// state, bundles, files, then state.json, which is what other tools look at and
// so must not name what is not there yet, and only then removals.
func (w *workDir) apply(p *workPlan) error {
	var docs []protocol.Document
	for _, d := range protocol.Documents() {
		if _, ok := p.docs[d]; ok && d != protocol.DocState {
			docs = append(docs, d)
		}
	}
	// The files are independent of each other and each waits for the disk, so
	// they are written side by side.
	err := parallel(len(p.ledgers)+len(docs), func(i int) error {
		if i < len(p.ledgers) {
			return w.writeLedger(p.ledgers[i])
		}
		d := docs[i-len(p.ledgers)]
		return w.write(string(d), p.docs[d])
	})
	if err != nil {
		return err
	}
	for _, name := range p.remove {
		if err := w.removeFile(name); err != nil {
			return err
		}
	}
	faults.Point("commit.after-documents")
	for turn, files := range p.bundles {
		if err := w.writeBundle(turn, files); err != nil {
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
	if data, ok := p.docs[protocol.DocState]; ok {
		if err := w.write(string(protocol.DocState), data); err != nil {
			return err
		}
	}
	faults.Point("commit.after-state")
	for _, turn := range p.drops {
		_, renewed := p.bundles[turn]
		if err := w.dropTurn(turn, renewed, p.proof); err != nil {
			return err
		}
	}
	return nil
}

func (w *workDir) writeLedger(l ledgerWrite) error {
	name := l.ledger.Path()
	var err error
	if l.replace {
		err = w.write(name, l.data)
	} else if err = w.mkdirs(path.Dir(name)); err == nil {
		err = durable.AppendRoot(w.root, name, l.offset, l.data, 0o666)
	}
	faults.Point("commit.after-ledger-" + string(l.ledger))
	return err
}

// parallel runs f for 0..n-1 at once and returns their errors.
func parallel(n int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
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

func (w *workDir) syncDir(dir string) error {
	return durable.SyncDir(w.dir + "/" + dir)
}

// writeBundle puts a dispatch bundle into place. The seal is written last and an
// old one is removed first: a bundle is complete exactly when it has its seal.
func (w *workDir) writeBundle(turn string, files map[string][]byte) error {
	dir := protocol.BundleDir(turn)
	if err := w.mkdirs(dir); err != nil {
		return err
	}
	if err := w.removeFile(dir + "/" + bundleSeal); err != nil {
		return err
	}
	for _, name := range bundleFiles() {
		if _, ok := files[name]; !ok {
			if err := w.removeFile(dir + "/" + name); err != nil {
				return err
			}
		}
	}
	var names []string
	for name := range files {
		if name != bundleSeal {
			names = append(names, name)
		}
	}
	err := parallel(len(names), func(i int) error { return w.write(dir+"/"+names[i], files[names[i]]) })
	if err != nil {
		return err
	}
	if seal, ok := files[bundleSeal]; ok {
		return w.write(dir+"/"+bundleSeal, seal)
	}
	return nil
}

// dropTurn removes what belongs to a turn that has ended: bundle files, adapter
// by-products, and the staged result if its bytes are kept in the run. Any other
// file is somebody's and stays, and with it its directory. When the turn was
// dispatched again its new bundle stays.
func (w *workDir) dropTurn(turn string, renewed bool, proof func([]byte) bool) error {
	if !safeName(turn) {
		return nil
	}
	for _, name := range []string{protocol.StagingPath(turn), protocol.FlatStagingPath} {
		data, _, ok, err := w.read(name, maxDocument)
		// An unreadable or replaced file is not the one we recorded: it stays.
		if err != nil || !ok || proof == nil || !proof(data) {
			continue
		}
		if err := w.removeFile(name); err != nil {
			return err
		}
	}
	staging := protocol.StagingDir + "/" + turn
	for _, name := range byProducts() {
		if err := w.removeFile(staging + "/" + name); err != nil {
			return err
		}
	}
	w.removeEmptyDir(staging)
	if renewed {
		return nil
	}
	bundle := protocol.BundleDir(turn)
	for i := len(bundleFiles()) - 1; i >= 0; i-- {
		if err := w.removeFile(bundle + "/" + bundleFiles()[i]); err != nil {
			return err
		}
	}
	w.removeEmptyDir(bundle)
	return nil
}
