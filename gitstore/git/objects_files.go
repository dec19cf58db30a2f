// The objects of a repository: loose files, packed entries, durable writes, and git itself for all rarer cases.
//
// Go-git applies the deltas of SHA-1 packs and does nothing else. Its index decoder loads every pack index whole (28
// bytes an object: 280 MB for ten million), its reader caches no base from one object to the next, and its writer
// exposes no file to sync.
//
// Writing does not go through git. Feeding a pack to `git index-pack --stdin` or `git unpack-objects` costs a
// process (1.5 ms and more) on top of the same syncs, and unpack-objects syncs every object separately; the pack
// this package writes is what index-pack would store, and git fsck --strict accepts it (see the tests).

package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// ObjectFiles reads and writes one objects directory of either hash.
type ObjectFiles struct {
	format string
	loose  object.Loose
	Packs  *pack.Set
	cat    *catFile

	deltas  *pack.Reader
	damaged atomic.Bool

	compactMu sync.Mutex

	holdMu sync.Mutex
	holds  []*packHold
}

func newObjectFiles(r *Repository, patch pack.Patcher) *ObjectFiles {
	s := &ObjectFiles{
		format: r.ObjectFormat,
		loose:  object.Loose{Dir: r.ObjectsDir, Format: r.ObjectFormat},
		Packs:  &pack.Set{Dir: r.packDir(), HashLen: object.HexLen(r.ObjectFormat) / 2},
		cat:    &catFile{git: r.Git},
	}
	s.deltas = &pack.Reader{Packs: s.Packs, Limit: object.MaxSize, Patch: patch, Loose: s.loose.Read,
		Bases: &pack.Bases{}}
	return s
}

func (s *ObjectFiles) Read(ctx context.Context, oid object.OID) (string, []byte, error) {
	if err := ctx.Err(); err != nil {
		return "", nil, context.Cause(ctx)
	}
	if !oid.Valid(s.format) {
		return "", nil, fail.Errorf(fail.CodeObjectMissing, nil, "%q is not an object id of this repository", oid)
	}
	// Try open packs first: it takes no system call to know that none of them has an object.
	if kind, data, err := s.readPacked(oid, s.Packs.FindOpen); err == nil {
		return kind, data, nil
	}
	kind, data, looseErr := s.loose.Read(oid)
	if looseErr == nil {
		return kind, data, nil
	}
	if !errors.Is(looseErr, fs.ErrNotExist) {
		s.damaged.Store(true)
	}
	if kind, data, err := s.readPacked(oid, s.Packs.Find); err == nil {
		return kind, data, nil
	} else if fail.CodeOf(err) == fail.CodeObjectTooLarge {
		return "", nil, err
	}
	// Alternates, lazily fetched objects of a partial clone, old index versions, more packs than we open, a damaged
	// copy beside an intact one: git handles them all, and its answer is checked like any other.
	kind, data, err := s.cat.read(ctx, oid)
	if err == nil {
		return kind, data, object.Verify(s.format, oid, kind, data)
	}
	if fail.CodeOf(looseErr) != "" && ctx.Err() == nil {
		return "", nil, looseErr // we saw the damage ourselves, and can name it
	}
	if shut := shutObjects(s.loose, oid); shut != nil && ctx.Err() == nil {
		return "", nil, shut
	}
	if fail.CodeOf(err) != fail.CodeObjectMissing {
		return "", nil, err
	}
	if lender, list := s.goneLender(); lender != "" {
		return "", nil, fail.Errorf(fail.CodeObjectMissing, nil,
			"object %s is not in the repository, which borrows those of %s, and that is not there", oid, lender).
			WithHint("bring that directory back, or write its new place into %s; otherwise git fetch --refetch REMOTE fetches what the remote has",
				list)
	}
	return "", nil, err
}

// goneLender returns a missing directory from which objects are borrowed, "" for none; list is the file that names
// it.
func (s *ObjectFiles) goneLender() (lender, list string) {
	list = filepath.Join(s.loose.Dir, "info", "alternates")
	data, err := ReadConfigFile(list)
	if err != nil {
		return "", list
	}
	for line := range strings.Lines(string(data)) {
		name := strings.TrimSuffix(line, "\n")
		if name == "" || name[0] == '#' || name[0] == '"' {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.loose.Dir, name)
		}
		if _, err := os.Stat(name); Absent(err) {
			return name, list
		}
	}
	return "", list
}

// readPacked returns fs.ErrNotExist when no pack holds the object. find is Set.find, or findKnown over some packs.
func (s *ObjectFiles) readPacked(oid object.OID, find func([]byte) (*pack.Index, int64)) (kind string, data []byte,
	err error) {
	kind, data, err = s.unpack(oid, find, s.deltas.Read)
	if err == nil {
		if err = object.Verify(s.format, oid, kind, data); err != nil {
			s.deltas.Bases.Forget()
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.damaged.Store(true)
	}
	return kind, data, err
}

// unpack is readPacked without verifying the object's id.
func (s *ObjectFiles) unpack(oid object.OID, find func([]byte) (*pack.Index, int64), read func(*pack.Index,
	int64) (string, []byte, error)) (kind string, data []byte, err error) {
	raw, ok := oid.Raw()
	if !ok {
		return "", nil, fs.ErrNotExist
	}
	// A repack may remove the pack between lookup and read; its objects are then in another pack. Twice in a row is
	// not a repack.
	for range 2 {
		p, off := find(raw)
		if p == nil {
			return "", nil, fs.ErrNotExist
		}
		if kind, data, err = read(p, off); !errors.Is(err, fs.ErrNotExist) {
			return kind, data, err
		}
		s.Packs.Forget(p)
	}
	return "", nil, err
}

// Check implements StoredChecker.
func (s *ObjectFiles) Check(oid object.OID, kind string, data []byte) error {
	look := func(p *pack.Index, off int64) (string, []byte, error) {
		kind, data, _, err := s.deltas.Look(p, off)
		return kind, data, err
	}
	got, stored, err := s.unpack(oid, s.Packs.FindOpen, look)
	if errors.Is(err, fs.ErrNotExist) {
		if got, stored, err = s.loose.Read(oid); errors.Is(err, fs.ErrNotExist) {
			got, stored, err = s.unpack(oid, s.Packs.Find, look)
		}
	}
	switch {
	case err != nil:
	case got != kind:
		err = object.Corrupt(oid, &object.KindError{Got: got, Want: kind})
	case data == nil:
		err = object.Verify(s.format, oid, kind, stored)
	case !bytes.Equal(stored, data):
		err = object.Corrupt(oid, errors.New("its content is not what its id says"))
	}
	if err != nil {
		s.deltas.Bases.Forget()
	}
	return err
}

// Damaged implements StoredChecker.
func (s *ObjectFiles) Damaged() bool { return s.damaged.Load() }

// Borrows implements StoredChecker.
func (s *ObjectFiles) Borrows() bool {
	_, err := os.Stat(filepath.Join(s.loose.Dir, "info", "alternates"))
	return err == nil || os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES") != ""
}

// hasLooks is how often to look for an object while packs come and go.
const hasLooks = 3

func (s *ObjectFiles) Has(ctx context.Context, oid object.OID) bool {
	if !oid.Valid(s.format) || ctx.Err() != nil {
		return false
	}
	// Housekeeping may move objects between places during the search.
	for look := 0; ; look++ {
		if s.local(oid) {
			return true
		}
		if look == hasLooks || !s.Packs.Moving() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	// Only alternates and packs that are not opened can still have it. Otherwise git is not asked: in a partial
	// clone the question alone would fetch the object.
	if !s.Borrows() && !s.Packs.Partial() {
		return false
	}
	_, err := s.cat.git.Run(ctx, nil, "cat-file", "-e", string(oid))
	return err == nil
}

func (s *ObjectFiles) local(oid object.OID) bool {
	if s.loose.Has(oid) {
		return true
	}
	raw, ok := oid.Raw()
	if !ok {
		return false
	}
	p, _ := s.Packs.Find(raw)
	return p != nil
}

func (s *ObjectFiles) Write(ctx context.Context, objects []object.Object) error {
	todo, err := object.Prepare(s.format, objects)
	if err != nil {
		return err
	}
	s.Packs.Refresh() // one look at the pack directory for the whole batch
	todo = slices.DeleteFunc(todo, func(o object.Object) bool { return s.stored(o.OID) })
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, size := 0, 0
		for n < len(todo) && (n == 0 || size+len(todo[n].Data) < pack.MaxBytes) {
			size += len(todo[n].Data) + 64
			n++
		}
		if err := s.writeBatch(todo[:n]); err != nil {
			return fail.Errorf(fail.CodeGitFailed, err, "the objects could not be written to %s", s.loose.Dir).
				WithHint("%s", fail.WritableHint(s.loose.Dir, err))
		}
		todo = todo[n:]
	}
	return nil
}

// stored reports whether this process just wrote the object and holds it. Any other copy may be about to be removed
// (see packhold.go), or be damaged.
func (s *ObjectFiles) stored(oid object.OID) bool {
	if !s.holding() {
		return false
	}
	_, _, err := s.readPacked(oid, func(raw []byte) (*pack.Index, int64) {
		return s.Packs.FindKnown(raw, s.isHeld)
	})
	return err == nil
}

func (s *ObjectFiles) writeBatch(objects []object.Object) error {
	h, err := s.pack(objects)
	if err == nil {
		s.hold(h)
	}
	return err
}

// packDir creates the pack directory if it is missing, and returns the mode for files in it.
func (s *ObjectFiles) packDir() (fs.FileMode, error) {
	mode, err := s.loose.Modes()
	if err != nil {
		return 0, err
	}
	if err := os.Mkdir(s.Packs.Dir, 0o777); errors.Is(err, fs.ErrExist) {
		return mode, nil
	} else if err != nil {
		return 0, err
	}
	if err := os.Chmod(s.Packs.Dir, mode); err != nil {
		return 0, err
	}
	return mode, durable.SyncDir(s.loose.Dir)
}

func (s *ObjectFiles) Close() error {
	s.Abandon(nil)
	s.Packs.Close()
	return s.cat.close()
}
