// Holding a pack until a ref reaches it: git's housekeeping removes unreachable objects, and between the writing of
// an operation's objects and the move of its ref, they are unreachable.
//
// git leaves a pack alone if it has a file ".keep" beside it: repack, gc, prune and the tasks of maintenance do.
// Each of them lists the pack directory before it reads the refs, so a pack is safe when the file exists before the
// pack gets its name and until the ref has moved. Loose objects have no such protection, therefore everything is
// written into packs; and an object that is stored elsewhere is written again, because that copy may be a leftover
// that the next repack drops.

package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

const (
	KeepExt = ".keep"
	newExt  = ".new" // suffix of a pack's file while it is being written
)

// packHold is a pack of ours that no ref is known to reach.
type packHold struct {
	path  string   // without extension
	pack  *os.File // open, so that its bytes survive the removal of its name
	index []byte
	tips  []object.OID // the commits in it
}

// newKeep creates the file that holds a pack to be written and returns the pack's path, without extension. The name
// is unique, not the checksum that git would use: another process may be about to release a pack with the same
// objects, or git to remove it.
//
// The file has its contents before its name, where the file system supports that: a keep file without an owner
// would stay forever, with its pack. To rule that out after a power cut, the caller syncs the file before the
// pack's index gets its name, and closes it.
func newKeep(packDir, format string) (path string, keep *os.File, err error) {
	owner := NewOwner("objects of an operation")
	owner.Acquired = time.Now()
	h := object.NewHash(format)
	_, _ = io.WriteString(h, owner.Token)
	path = filepath.Join(packDir, fmt.Sprintf("pack-%x", h.Sum(nil)))
	named := false
	if keep, err = durable.Nameless(packDir); err != nil {
		keep, err = os.OpenFile(path+KeepExt, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		named = true
	}
	if err != nil {
		return "", nil, err
	}
	_, err = keep.Write(append(owner.Encode(), '\n'))
	if err == nil && !named {
		err = durable.Name(keep, path+KeepExt)
	}
	if err != nil {
		_ = keep.Close()
		if named {
			_ = os.Remove(path + KeepExt)
		}
		return "", nil, err
	}
	return path, keep, nil
}

// removeUnfinished removes the files of a pack that did not get its index. If it did, git cleans up.
func removeUnfinished(path string) {
	if _, err := os.Lstat(path + ".idx"); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(path + ".pack")
	}
	_ = os.Remove(path + ".pack" + newExt)
	_ = os.Remove(path + ".idx" + newExt)
}

// commitsIn returns the ids of the commits among objects.
func commitsIn(objects []object.Object) []object.OID {
	var out []object.OID
	for _, o := range objects {
		if o.Kind == object.KindCommit {
			out = append(out, o.OID)
		}
	}
	return out
}

// isHeld reports whether the pack at path, without extension, is one of ours that is waiting for its ref.
func (s *ObjectFiles) isHeld(path string) bool {
	s.holdMu.Lock()
	defer s.holdMu.Unlock()
	return slices.ContainsFunc(s.holds, func(h *packHold) bool { return h.path == path })
}

func (s *ObjectFiles) holding() bool {
	s.holdMu.Lock()
	defer s.holdMu.Unlock()
	return len(s.holds) > 0
}

func (s *ObjectFiles) hold(h *packHold) {
	s.holdMu.Lock()
	defer s.holdMu.Unlock()
	s.holds = append(s.holds, h)
}

// take removes the holds of the commits from the list, together with holds without a commit, which are parts of
// those commits. nil takes all.
func (s *ObjectFiles) take(tips []object.OID) []*packHold {
	s.holdMu.Lock()
	defer s.holdMu.Unlock()
	named := func(h *packHold) bool {
		return slices.ContainsFunc(h.tips, func(o object.OID) bool { return slices.Contains(tips, o) })
	}
	if tips != nil && !slices.ContainsFunc(s.holds, named) {
		return nil
	}
	var taken, left []*packHold
	for _, h := range s.holds {
		if tips == nil || len(h.tips) == 0 || named(h) {
			taken = append(taken, h)
		} else {
			left = append(left, h)
		}
	}
	s.holds = left
	return taken
}

// reached is called when refs have moved to commits: their packs no longer need to be held. It checks once more
// that they exist, and restores one that was removed anyway.
func (s *ObjectFiles) reached(tips []object.OID) error {
	var errs []error
	for _, h := range s.take(tips) {
		errs = append(errs, h.confirm(s.Packs.Dir))
		h.Release()
	}
	return errors.Join(errs...)
}

// Abandon releases packs whose refs will not move. git cleans up their contents.
func (s *ObjectFiles) Abandon(tips []object.OID) {
	for _, h := range s.take(tips) {
		h.Release()
	}
}

func (h *packHold) Release() {
	_ = h.pack.Close()
	_ = os.Remove(h.path + KeepExt)
}

// confirm restores the pack if it has been removed.
func (h *packHold) confirm(packDir string) error {
	want, err := h.pack.Stat()
	if err != nil {
		return err
	}
	have, perr := os.Stat(h.path + ".pack")
	_, ierr := os.Stat(h.path + ".idx")
	if perr == nil && ierr == nil && os.SameFile(want, have) {
		return nil
	}
	mode := want.Mode().Perm()
	if _, err := h.pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := putFile(h.path+".pack", mode, h.pack); err != nil {
		return err
	}
	if err := putFile(h.path+".idx", mode, strings.NewReader(string(h.index))); err != nil {
		return err
	}
	return durable.SyncDir(packDir)
}

// putFile writes a complete file before it gets its name.
func putFile(path string, mode fs.FileMode, from io.Reader) error {
	_ = os.Remove(path + newExt)
	f, err := os.OpenFile(path+newExt, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err == nil {
		err = seal(f, mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// holder is implemented by backends that can hold packs.
type holder interface {
	reached(tips []object.OID) error
	Abandon(tips []object.OID)
	adopt(pack string) (*packHold, error)
	pack(objects []object.Object) (*packHold, error)
}

// Reached tells the object store that refs have moved.
func (r *Repository) Reached(updates []RefUpdate) error {
	if h, ok := r.Objects().(holder); ok {
		return h.reached(newTips(updates))
	}
	return nil
}

// Abandon tells the object store that the refs will not move.
func (r *Repository) Abandon(updates ...RefUpdate) {
	if h, ok := r.Objects().(holder); ok {
		h.Abandon(newTips(updates))
	}
}

func newTips(updates []RefUpdate) []object.OID {
	tips := make([]object.OID, 0, len(updates))
	for _, u := range updates {
		if u.New != u.Old {
			tips = append(tips, u.New)
		}
	}
	return tips
}

// StaleHold is a pack held by a process that has ended.
type StaleHold struct {
	Path string // the .keep file, or an unfinished index where there is none
	By   string // the command that made it
}

func (r *Repository) packDir() string { return filepath.Join(r.ObjectsDir, "pack") }

// StaleHolds lists the packs held by our processes that died before releasing them, proven by process number and
// start time, and whose gits have ended too. With remove it releases them and deletes half-written files; git then
// cleans up what no ref reaches.
func (r *Repository) StaleHolds(remove bool) []StaleHold {
	dir := r.packDir()
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	names, err := d.Readdirnames(-1)
	_ = d.Close()
	if err != nil {
		return nil
	}
	var stale []StaleHold
	for _, name := range names {
		base, ok := strings.CutSuffix(name, ".idx"+newExt)
		path := filepath.Join(dir, base)
		if !ok || slices.Contains(names, base+KeepExt) || !r.holdsNothing(path+".idx"+newExt, path) {
			continue // its writer keeps it
		}
		if remove {
			removeUnfinished(path)
		}
		stale = append(stale, StaleHold{Path: path + ".idx" + newExt, By: byPowerCut})
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, KeepExt) })
	if len(names) == 0 {
		return stale
	}
	notes := r.LockNotes()
	for _, name := range names {
		path := filepath.Join(dir, name)
		l, err := ReadLock(path)
		if err != nil || !l.torn() && (!l.valid || !l.ours || !l.Dead() || l.outlived(notes)) ||
			l.torn() && !r.holdsNothing(path, strings.TrimSuffix(path, KeepExt)) {
			continue
		}
		if remove {
			removeUnfinished(strings.TrimSuffix(path, KeepExt))
			if os.Remove(path) != nil {
				continue
			}
		}
		by := l.label()
		if l.torn() {
			by = byPowerCut
		}
		stale = append(stale, StaleHold{Path: path, By: by})
	}
	return stale
}

// torn reports whether a power cut has lost the contents, all or the end of them.
func (l *FileLock) torn() bool {
	return !l.valid && (len(bytes.Trim(l.Raw, "\x00")) == 0 || l.Raw[0] == '{')
}

// byPowerCut names an owner whose name was lost.
const byPowerCut = "a process that a power cut ended"

// holdsNothing reports whether git sees no pack, for lack of an index, and no process is about to create one. path
// is the file that says that it is being written.
func (r *Repository) holdsNothing(path, pack string) bool {
	fi, err := os.Lstat(path)
	if err != nil || young(path, fi) || IsOpen(path) {
		return false
	}
	_, err = os.Lstat(pack + ".idx")
	return errors.Is(err, fs.ErrNotExist) && !r.foreignGit()
}

// young reports whether a file was written less than LockQuiet ago. A time in the future means that the clock of
// the file system is ahead: waiting shows whether the file is still changing.
func young(path string, fi fs.FileInfo) bool {
	age := time.Since(fi.ModTime())
	if age >= 0 {
		return age < LockQuiet
	}
	time.Sleep(LockQuiet)
	now, err := os.Lstat(path)
	return err != nil || StatOf(now) != StatOf(fi)
}

// outlived reports whether a git that the owner started may still be at work. It may be about to move a ref to what
// the owner held, and a repack that saw the objects neither held nor reachable would remove them.
func (l *FileLock) outlived(notes []*LockNote) bool {
	return slices.ContainsFunc(notes, func(n *LockNote) bool { return n.Owner == l.Owner && !n.overWithin(0) })
}

// HoldObjects writes objects into a pack and holds it until release is called.
func (r *Repository) HoldObjects(objects []object.Object) (release func(), err error) {
	return r.holding(func(s holder) (*packHold, error) { return s.pack(objects) })
}

// HoldPack copies a finished pack of git's, named without extension, and holds the copy until release is called.
func (r *Repository) HoldPack(pack string) (release func(), err error) {
	return r.holding(func(s holder) (*packHold, error) { return s.adopt(pack) })
}

func (r *Repository) holding(hold func(holder) (*packHold, error)) (release func(), err error) {
	s, ok := r.Objects().(holder)
	if !ok {
		return func() {}, nil
	}
	h, err := hold(s)
	if err != nil {
		return nil, err
	}
	return h.Release, nil
}

// adopt copies a finished pack, named without extension, and holds the copy.
func (s *ObjectFiles) adopt(from string) (*packHold, error) {
	mode, err := s.packDir()
	if err != nil {
		return nil, err
	}
	path, keep, err := newKeep(s.Packs.Dir, s.format)
	if err != nil {
		return nil, err
	}
	err = keep.Sync()
	_ = keep.Close()
	for _, ext := range []string{".pack", ".idx"} { // git looks for indexes
		if err == nil {
			err = copyFile(from+ext, path+ext, mode)
		}
	}
	if err == nil {
		err = durable.SyncDir(s.Packs.Dir)
	}
	var pack *os.File
	if err == nil {
		pack, err = os.Open(path + ".pack")
	}
	if err != nil {
		removeUnfinished(path)
		_ = os.Remove(path + KeepExt)
		return nil, err
	}
	s.mark(path)
	return &packHold{path: path, pack: pack}, nil
}

// pack writes objects into a pack and holds it.
func (s *ObjectFiles) pack(objects []object.Object) (*packHold, error) {
	mode, err := s.packDir()
	if err != nil {
		return nil, err
	}
	h, err := writePack(s.Packs.Dir, s.format, mode, objects)
	if err == nil {
		s.mark(h.path)
	}
	return h, err
}
