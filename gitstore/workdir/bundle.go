// The files of a dispatch bundle in its place: written as recorded, and removed.

package workdir

import (
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Supplements notes which recorded files of a turn's bundle only its record names: what hooks and the coordinator
// added (docs/bundles.md). format is the ids' format.
func (p *Plan) Supplements(turn string, files map[string]object.OID, format string) {
	for _, name := range record.BundleFiles() {
		delete(files, name)
	}
	if len(files) == 0 {
		return
	}
	if p.added == nil {
		p.added = make(map[string]map[string]object.OID)
	}
	if p.added[turn] == nil {
		p.added[turn] = make(map[string]object.OID)
	}
	maps.Copy(p.added[turn], files)
	p.format = format
}

// removeSupplements removes what an earlier bundle of the turn held besides the files of every bundle, unless keep
// names it. A file that differs from the record may be a person's and stays.
func (w *Dir) removeSupplements(p *Plan, turn string, keep map[string][]byte) error {
	dir := wire.BundleDir(turn)
	for name, oid := range p.added[turn] {
		if _, ok := keep[name]; ok {
			continue
		}
		data, _, ok, err := w.Read(dir+"/"+name, MaxDocument)
		if err != nil || !ok || object.Hash(p.format, object.KindBlob, data) != oid {
			continue
		}
		if err := w.RemoveFile(dir + "/" + name); err != nil {
			return err
		}
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			w.RemoveEmptyDir(dir + "/" + at)
		}
	}
	return nil
}

// maxOpenFiles bounds how many files of one bundle are examined.
const maxOpenFiles = 10000

// DropUnrecorded removes unrecorded files that appeared in a bundle directory. The log of an actor that may still
// be at work stays: it is part of no bundle.
func (w *Dir) DropUnrecorded(dir string, before []string, recorded map[string]object.OID) (changed bool, err error) {
	found, err := w.BundleFiles(dir)
	if err != nil {
		return false, err
	}
	for _, f := range found {
		if _, ok := recorded[f.Name]; ok && f.regular || slices.Contains(before, f.Name) &&
			!slices.Contains(record.BundleFiles(), f.Name) || f.regular && f.Name == actorLog {
			continue
		}
		if err := w.Root.RemoveAll(dir + "/" + f.Name); err != nil {
			return changed, err
		}
		changed = true
		for at := path.Dir(f.Name); at != "."; at = path.Dir(at) {
			w.RemoveEmptyDir(dir + "/" + at)
		}
	}
	if len(recorded) == 0 {
		w.RemoveEmptyDir(dir)
	}
	return changed, nil
}

// PutRecorded writes the recorded files that are missing or different, the seal last.
func (w *Dir) PutRecorded(r *record.Reader, dir string, recorded map[string]object.OID) (changed bool, err error) {
	names := make([]string, 0, len(recorded))
	for name := range recorded {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == record.BundleSeal) != (b == record.BundleSeal) {
			if a == record.BundleSeal {
				return 1
			}
			return -1
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	for _, name := range names {
		data, _, ok, err := w.Read(dir+"/"+name, MaxDocument)
		if err == nil && ok && r.BlobID(data) == recorded[name] {
			continue
		}
		if data, err = r.Blob(recorded[name]); err != nil {
			return changed, err
		}
		if err := w.Write(dir+"/"+name, data); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// actorLog is an actor's output, written to its bundle directory after the seal (docs/bundles.md#where).
const actorLog = "stdout.log"

// BundleFile is an entry below a bundle directory that is not a readable directory.
type BundleFile struct {
	Name    string
	regular bool
}

// BundleFiles lists everything below a bundle directory, without following links; nothing when it is not a
// directory.
func (w *Dir) BundleFiles(dir string) ([]BundleFile, error) {
	if fi, err := w.Root.Lstat(dir); err != nil || !fi.IsDir() {
		return nil, nil
	}
	d, err := w.Root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	var out []BundleFile
	err = fs.WalkDir(d.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return err
		case err == nil && e.IsDir():
			return nil
		case len(out) == maxOpenFiles:
			return fs.SkipAll
		}
		// An unreadable directory counts as one entry.
		out = append(out, BundleFile{p, err == nil && e.Type().IsRegular()})
		return nil
	})
	return out, err
}
