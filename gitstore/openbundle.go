// A dispatch bundle that lies open for hooks before it is recorded, and what becomes of it when its command ends too soon.

package gitstore

import (
	"context"
	"encoding/binary"
	"io/fs"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// openBundle is the note left while hooks look at a bundle in its place: the
// command may be killed before it records the bundle, and then the directory
// agrees with no record.
type openBundle struct {
	Run   string
	Turn  string
	Files []string // what lay in the directory before, slash separated below it
}

// maxOpenFiles bounds what is noted and looked at of one bundle.
const maxOpenFiles = 10000

const openBundleName = "open-bundle"

func (n *openBundle) encode() []byte {
	b := putBytes(nil, []byte(n.Run))
	b = putBytes(b, []byte(n.Turn))
	b = binary.AppendUvarint(b, uint64(len(n.Files)))
	for _, f := range n.Files {
		b = putBytes(b, []byte(f))
	}
	return sealCache(b)
}

func decodeOpenBundle(data []byte) (*openBundle, error) {
	d, err := unsealCache(data)
	if err != nil {
		return nil, err
	}
	n := &openBundle{Run: string(d.bytes()), Turn: string(d.bytes())}
	for range d.count() {
		n.Files = append(n.Files, string(d.bytes()))
	}
	if d.bad || len(d.b) != 0 || !record.SafeName(n.Turn) {
		return nil, errCache
	}
	return n, nil
}

// OpenBundle announces that the bundle directory of a turn is about to be written
// for hooks to look at. Until SettleBundle the directory may hold anything; should
// the process be killed before, the next Begin settles it.
func (tx *Tx) OpenBundle(ctx context.Context, turn string) error {
	if !record.SafeName(turn) {
		return git.Errorf(wire.CodeInvalidArgument, nil, "%q cannot name a bundle", turn)
	}
	if err := tx.SettleBundle(ctx); err != nil {
		return err
	}
	s := tx.store
	n := &openBundle{Turn: turn}
	if tx.rec != nil {
		n.Run = tx.rec.run
	}
	found, err := s.work.bundleEntries(wire.BundleDir(turn))
	if err != nil {
		return unreadable(wire.BundleDir(turn), err)
	}
	for _, f := range found {
		n.Files = append(n.Files, f.name)
	}
	if err := s.writePrivate(openBundleName, n.encode()); err != nil {
		return git.Errorf(git.CodeUnreadable, err, "the git directory cannot be written to")
	}
	tx.opened = n
	return nil
}

// SettleBundle ends what OpenBundle began: the directory then holds the bundle as
// the newest operation records it, or nothing of a dispatch that was not recorded.
// Files that lay there before and belong to nobody stay. Without an open bundle
// nothing happens.
func (tx *Tx) SettleBundle(ctx context.Context) error {
	n := tx.opened
	if n == nil || tx.broken || tx.lock == nil || tx.lock.Check() != nil {
		return nil // the note stays for whoever holds the lock next
	}
	tx.opened = nil
	_, err := tx.settle(ctx, n)
	return err
}

// settleLeft settles the bundle that a process which died with the lock in its
// hands had open. It returns the turn whose bundle was put right, or "".
func (tx *Tx) settleLeft(ctx context.Context) (turn string, err error) {
	if !tx.lock.Inherited {
		return "", nil
	}
	data, err := tx.store.readPrivate(openBundleName, maxCache)
	if err != nil {
		return "", nil // there is none
	}
	n, err := decodeOpenBundle(data)
	if err != nil {
		_ = tx.store.removePrivate(openBundleName)
		return "", nil
	}
	changed, err := tx.settle(ctx, n)
	if err != nil || !changed {
		return "", err
	}
	return n.Turn, nil
}

// settle brings a bundle directory to what is recorded and takes the note away.
func (tx *Tx) settle(ctx context.Context, n *openBundle) (changed bool, err error) {
	s := tx.store
	recorded := make(map[string]git.OID)
	var r *record.Reader
	if tx.rec != nil && tx.rec.run == n.Run {
		r = s.reader(ctx)
		rec, err := s.recordedAt(r, tx.rec.run, tx.rec.op)
		if err != nil {
			return false, err
		}
		if recorded, err = rec.bundleFilesAt(n.Turn); err != nil {
			return false, err
		}
	}
	dir := wire.BundleDir(n.Turn)
	changed, err = s.work.dropUnrecorded(dir, n.Files, recorded)
	if err == nil && len(recorded) > 0 {
		var more bool
		more, err = s.work.putRecorded(r, dir, recorded)
		changed = changed || more
	}
	if err != nil {
		return changed, git.Errorf(git.CodeWorkBehind, err, "%s could not be brought to what is recorded", dir).WithHint("remove the cause and run the command again")
	}
	if err := s.removePrivate(openBundleName); err != nil {
		return changed, git.Errorf(git.CodeUnreadable, err, "the git directory cannot be written to")
	}
	return changed, nil
}

// dropUnrecorded removes what came into a bundle directory and was not recorded.
// The log of an actor that may still be at work stays: it is part of no bundle.
func (w *workDir) dropUnrecorded(dir string, before []string, recorded map[string]git.OID) (changed bool, err error) {
	found, err := w.bundleEntries(dir)
	if err != nil {
		return false, err
	}
	for _, f := range found {
		if _, ok := recorded[f.name]; ok && f.regular || slices.Contains(before, f.name) && !slices.Contains(record.BundleFiles(), f.name) || f.regular && f.name == actorLog {
			continue
		}
		if err := w.root.RemoveAll(dir + "/" + f.name); err != nil {
			return changed, err
		}
		changed = true
		for at := path.Dir(f.name); at != "."; at = path.Dir(at) {
			w.removeEmptyDir(dir + "/" + at)
		}
	}
	if len(recorded) == 0 {
		w.removeEmptyDir(dir)
	}
	return changed, nil
}

// putRecorded writes the recorded files that are not as recorded, the seal last.
func (w *workDir) putRecorded(r *record.Reader, dir string, recorded map[string]git.OID) (changed bool, err error) {
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
		data, _, ok, err := w.read(dir+"/"+name, maxDocument)
		if err == nil && ok && r.BlobID(data) == recorded[name] {
			continue
		}
		if data, err = r.Blob(recorded[name]); err != nil {
			return changed, err
		}
		if err := w.write(dir+"/"+name, data); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// actorLog is what an actor prints, written into its bundle directory after the
// seal (docs/bundles.md#where).
const actorLog = "stdout.log"

// bundleEntry is anything but a directory that can be looked into, below a bundle
// directory.
type bundleEntry struct {
	name    string
	regular bool
}

// bundleEntries lists what lies below a bundle directory, without following
// links; nothing when it is no directory.
func (w *workDir) bundleEntries(dir string) ([]bundleEntry, error) {
	if fi, err := w.root.Lstat(dir); err != nil || !fi.IsDir() {
		return nil, nil
	}
	d, err := w.root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	var out []bundleEntry
	err = fs.WalkDir(d.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return err
		case err == nil && e.IsDir():
			return nil
		case len(out) == maxOpenFiles:
			return fs.SkipAll
		}
		// A directory that cannot be looked into is one thing.
		out = append(out, bundleEntry{p, err == nil && e.Type().IsRegular()})
		return nil
	})
	return out, err
}
