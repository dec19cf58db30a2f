// Reading recorded trees lazily and deriving the next one from them.

package record

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Reader reads trees and blobs of recorded operations, caching trees.
type Reader struct {
	ctx     context.Context
	objects git.Objects
	Format  string
	known   map[object.OID][]byte             // raw trees, by id
	parsed  map[object.OID][]object.TreeEntry // the same, parsed; not to be changed
	recent  *git.RecentBlobs                  // nil: blobs are not cached
	read    map[object.OID]bool               // objects read for one operation; nil: not noted
}

// Context returns the context of the reader.
func (r *Reader) Context() context.Context { return r.ctx }

// object reads an object that must have the given kind.
func (r *Reader) object(oid object.OID, kind string) ([]byte, error) {
	got, data, err := r.objects.Read(r.ctx, oid)
	if err != nil {
		return nil, err
	}
	if got != kind {
		return nil, object.Corrupt(oid, &object.KindError{Got: got, Want: kind})
	}
	if r.read != nil {
		r.read[oid] = true
	}
	return data, nil
}

// Blob reads a blob. The caller must not change it.
func (r *Reader) Blob(oid object.OID) ([]byte, error) {
	if data, ok := r.recent.Get(oid); ok {
		return data, nil
	}
	data, err := r.object(oid, object.KindBlob)
	if err == nil {
		r.recent.Put(oid, data)
	}
	return data, err
}

func (r *Reader) raw(oid object.OID) ([]byte, error) {
	if data, ok := r.known[oid]; ok {
		return data, nil
	}
	data, err := r.object(oid, object.KindTree)
	if err == nil {
		r.known[oid] = data
	}
	return data, err
}

// Entries returns the entries of a tree. The caller must not change them.
func (r *Reader) Entries(oid object.OID) ([]object.TreeEntry, error) {
	if list, ok := r.parsed[oid]; ok {
		return list, nil
	}
	data, err := r.raw(oid)
	if err != nil {
		return nil, err
	}
	list, err := object.ParseTree(r.Format, data)
	if err != nil {
		return nil, object.Corrupt(oid, err)
	}
	r.parsed[oid] = list
	return list, nil
}

// RememberBlobs caches the blobs read for the current operation and the one before it.
func (r *Reader) RememberBlobs() { r.recent = git.NewRecentBlobs() }

// NoteReads makes the reader note reads for WasRead.
func (r *Reader) NoteReads() { r.read = make(map[object.OID]bool) }

// WasRead reports whether an object, as stored, was read for this operation.
func (r *Reader) WasRead(oid object.OID) bool { return r.read[oid] }

// NextOperation starts the reads of another operation.
func (r *Reader) NextOperation() {
	r.recent.Next()
	clear(r.read)
}

// Seed adds raw trees to the cache.
func (r *Reader) Seed(trees map[object.OID][]byte) { maps.Copy(r.known, trees) }

// Drop removes one tree from the cache.
func (r *Reader) Drop(tree object.OID) {
	delete(r.known, tree)
	delete(r.parsed, tree)
}

// Keep drops all trees but one from the cache.
func (r *Reader) Keep(tree object.OID) { r.forget(map[object.OID][]byte{tree: r.known[tree]}) }

// KeepRightEdge drops all trees except those needed to derive an operation after root.
func (r *Reader) KeepRightEdge(root object.OID) { r.forget(r.RightEdge(root)) }

// BlobID returns the id of data as a blob.
func (r *Reader) BlobID(data []byte) object.OID { return object.Hash(r.Format, object.KindBlob, data) }

// forget drops all trees except those given from the cache.
func (r *Reader) forget(keep map[object.OID][]byte) {
	r.known = keep
	for oid := range r.parsed {
		if _, ok := keep[oid]; !ok {
			delete(r.parsed, oid)
		}
	}
}

// Commit reads and parses a commit.
func (r *Reader) Commit(oid object.OID) (*object.Commit, error) {
	data, err := r.object(oid, object.KindCommit)
	if err != nil {
		return nil, err
	}
	c, err := object.ParseCommit(r.Format, data)
	if err != nil {
		return nil, object.Corrupt(oid, err)
	}
	return c, nil
}

// Lookup finds the entry at path below the tree root.
func (r *Reader) Lookup(root object.OID, path string) (object.TreeEntry, bool, error) {
	for {
		head, rest, deeper := strings.Cut(path, "/")
		list, err := r.Entries(root)
		if err != nil {
			return object.TreeEntry{}, false, err
		}
		i := slices.IndexFunc(list, func(e object.TreeEntry) bool { return e.Name == head })
		if i < 0 || deeper && !list[i].IsTree() {
			return object.TreeEntry{}, false, nil
		}
		if !deeper {
			return list[i], true, nil
		}
		root, path = list[i].OID, rest
	}
}

// File reads the blob at path; false when there is none.
func (r *Reader) File(root object.OID, path string) ([]byte, bool, error) {
	e, ok, err := r.Lookup(root, path)
	if err != nil || !ok {
		return nil, false, err
	}
	if e.IsTree() {
		return nil, false, Malformed(root, "%s is a directory", path)
	}
	data, err := r.Blob(e.OID)
	return data, err == nil, err
}

// Required is File for a file that every operation records.
func (r *Reader) Required(root object.OID, path string) ([]byte, error) {
	data, ok, err := r.File(root, path)
	if err == nil && !ok {
		err = Malformed(root, "there is no %s", path)
	}
	return data, err
}

// List returns the entries of the directory at path, none when it is absent.
func (r *Reader) List(root object.OID, path string) ([]object.TreeEntry, error) {
	e, ok, err := r.Lookup(root, path)
	if err != nil || !ok {
		return nil, err
	}
	if !e.IsTree() {
		return nil, Malformed(root, "%s is not a directory", path)
	}
	return r.Entries(e.OID)
}

// Slots returns the ids of the segments or groups below path in order, checking that their names count up from zero
// without a gap.
func (r *Reader) Slots(root object.OID, path string, trees bool) ([]object.OID, error) {
	his, err := r.List(root, path)
	if err != nil {
		return nil, err
	}
	var out []object.OID
	for _, hi := range his {
		if !hi.IsTree() {
			return nil, Malformed(root, "%s/%s is not a directory", path, hi.Name)
		}
		los, err := r.Entries(hi.OID)
		if err != nil {
			return nil, err
		}
		for _, lo := range los {
			if n, ok := parseSlot(hi.Name, lo.Name); !ok || n != len(out) || lo.IsTree() != trees {
				return nil, Malformed(root, "%s/%s/%s is not number %d", path, hi.Name, lo.Name, len(out))
			}
			out = append(out, lo.OID)
		}
	}
	return out, nil
}

// LastSlot returns the number of slots below path and the id of the last one, reading only the right edge.
func (r *Reader) LastSlot(root object.OID, path string) (n int, last object.OID, err error) {
	his, err := r.List(root, path)
	if err != nil || len(his) == 0 {
		return 0, "", err
	}
	hi := his[len(his)-1]
	if !hi.IsTree() {
		return 0, "", Malformed(root, "%s/%s is not a directory", path, hi.Name)
	}
	los, err := r.Entries(hi.OID)
	if err != nil {
		return 0, "", err
	}
	if len(los) > 0 {
		lo := los[len(los)-1]
		if i, ok := parseSlot(hi.Name, lo.Name); ok {
			return i + 1, lo.OID, nil
		}
	}
	return 0, "", Malformed(root, "%s/%s holds no numbered entries", path, hi.Name)
}

// RightEdge returns the raw trees below root that are needed to derive the next operation: everything except
// evidence and all but the last part of each numbered directory. Only trees already read are included.
func (r *Reader) RightEdge(root object.OID) map[object.OID][]byte {
	out := make(map[object.OID][]byte)
	var walk func(oid object.OID, path string)
	walk = func(oid object.OID, path string) {
		raw, ok := r.known[oid]
		if !ok {
			return
		}
		out[oid] = raw
		list, err := r.Entries(oid)
		if err != nil {
			return
		}
		numbered := path == DirFiles || strings.HasPrefix(path, DirLedger+"/")
		for i, entry := range list {
			if !entry.IsTree() || path == "" && entry.Name == DirEvidence || numbered && i < len(list)-1 {
				continue
			}
			if strings.HasPrefix(path, DirFiles+"/") {
				continue // the contents of groups never change
			}
			walk(entry.OID, strings.TrimPrefix(path+"/"+entry.Name, "/"))
		}
	}
	walk(root, "")
	return out
}

// WalkFiles calls f for each file below the tree, with dir prepended to its path.
func (r *Reader) WalkFiles(tree object.OID, dir string, f func(name string, oid object.OID) error) error {
	list, err := r.Entries(tree)
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path.Join(dir, e.Name)
		if e.IsTree() {
			err = r.WalkFiles(e.OID, name, f)
		} else {
			err = f(name, e.OID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Record decodes the record of an operation with its evidence.
func (r *Reader) Record(tree object.OID) (*protocol.Record, error) {
	doc, err := r.Required(tree, FileRecord)
	if err != nil {
		return nil, err
	}
	rec, err := protocol.DecodeRecord(doc, func(digest string) ([]byte, error) {
		data, _, err := r.File(tree, DirEvidence+"/"+digest)
		return data, err
	})
	if err != nil {
		return nil, Malformed(tree, "%s: %v", FileRecord, err)
	}
	return rec, nil
}

// NewReader returns a reader of the repository's objects, which works until ctx ends.
func NewReader(ctx context.Context, r *git.Repository) *Reader {
	return &Reader{
		ctx:     ctx,
		objects: r.Objects(),
		Format:  r.ObjectFormat,
		known:   make(map[object.OID][]byte),
		parsed:  make(map[object.OID][]object.TreeEntry),
	}
}
