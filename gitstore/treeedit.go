// Reading recorded trees lazily and deriving the next one from them.

package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// treeReader reads trees and blobs of recorded operations, remembering trees.
type treeReader struct {
	ctx     context.Context
	objects git.Objects
	format  string
	known   map[git.OID][]byte          // raw trees, by id
	parsed  map[git.OID][]git.TreeEntry // the same, parsed; not to be changed
	recent  *git.RecentBlobs            // nil: blobs are not remembered
}

func (s *Store) reader(ctx context.Context) *treeReader { return readTree(ctx, s.repo) }

// object reads an object that must be of the given kind.
func (r *treeReader) object(oid git.OID, kind string) ([]byte, error) {
	got, data, err := r.objects.Read(r.ctx, oid)
	if err != nil {
		return nil, err
	}
	if got != kind {
		return nil, git.Corrupt(oid, fmt.Errorf("it is a %s where a %s is needed", got, kind))
	}
	return data, nil
}

// blob reads a blob. The caller must not change it.
func (r *treeReader) blob(oid git.OID) ([]byte, error) {
	if data, ok := r.recent.Get(oid); ok {
		return data, nil
	}
	data, err := r.object(oid, git.KindBlob)
	if err == nil {
		r.recent.Put(oid, data)
	}
	return data, err
}

func (r *treeReader) raw(oid git.OID) ([]byte, error) {
	if data, ok := r.known[oid]; ok {
		return data, nil
	}
	data, err := r.object(oid, git.KindTree)
	if err == nil {
		r.known[oid] = data
	}
	return data, err
}

// entries returns the entries of a tree. The caller must not change them.
func (r *treeReader) entries(oid git.OID) ([]git.TreeEntry, error) {
	if list, ok := r.parsed[oid]; ok {
		return list, nil
	}
	data, err := r.raw(oid)
	if err != nil {
		return nil, err
	}
	list, err := git.ParseTree(r.format, data)
	if err != nil {
		return nil, git.Corrupt(oid, err)
	}
	r.parsed[oid] = list
	return list, nil
}

// forget drops trees from memory, all but those given.
func (r *treeReader) forget(keep map[git.OID][]byte) {
	r.known = keep
	for oid := range r.parsed {
		if _, ok := keep[oid]; !ok {
			delete(r.parsed, oid)
		}
	}
}

// commit reads and parses a commit.
func (r *treeReader) commit(oid git.OID) (*git.Commit, error) {
	data, err := r.object(oid, git.KindCommit)
	if err != nil {
		return nil, err
	}
	c, err := git.ParseCommit(r.format, data)
	if err != nil {
		return nil, git.Corrupt(oid, err)
	}
	return c, nil
}

// lookup finds the entry at path below the tree root.
func (r *treeReader) lookup(root git.OID, path string) (git.TreeEntry, bool, error) {
	for {
		head, rest, deeper := strings.Cut(path, "/")
		list, err := r.entries(root)
		if err != nil {
			return git.TreeEntry{}, false, err
		}
		i := slices.IndexFunc(list, func(e git.TreeEntry) bool { return e.Name == head })
		if i < 0 || deeper && !list[i].IsTree() {
			return git.TreeEntry{}, false, nil
		}
		if !deeper {
			return list[i], true, nil
		}
		root, path = list[i].OID, rest
	}
}

// file reads the blob at path; false when there is none.
func (r *treeReader) file(root git.OID, path string) ([]byte, bool, error) {
	e, ok, err := r.lookup(root, path)
	if err != nil || !ok {
		return nil, false, err
	}
	if e.IsTree() {
		return nil, false, malformed(root, "%s is a directory", path)
	}
	data, err := r.blob(e.OID)
	return data, err == nil, err
}

// list returns the entries of the directory at path, none when it is absent.
func (r *treeReader) list(root git.OID, path string) ([]git.TreeEntry, error) {
	e, ok, err := r.lookup(root, path)
	if err != nil || !ok {
		return nil, err
	}
	if !e.IsTree() {
		return nil, malformed(root, "%s is not a directory", path)
	}
	return r.entries(e.OID)
}

// slots returns the ids of the segments or groups below path in order, checking
// that their names count up from zero without a gap.
func (r *treeReader) slots(root git.OID, path string, trees bool) ([]git.OID, error) {
	his, err := r.list(root, path)
	if err != nil {
		return nil, err
	}
	var out []git.OID
	for _, hi := range his {
		if !hi.IsTree() {
			return nil, malformed(root, "%s/%s is not a directory", path, hi.Name)
		}
		los, err := r.entries(hi.OID)
		if err != nil {
			return nil, err
		}
		for _, lo := range los {
			if n, ok := parseSlot(hi.Name, lo.Name); !ok || n != len(out) || lo.IsTree() != trees {
				return nil, malformed(root, "%s/%s/%s is not number %d", path, hi.Name, lo.Name, len(out))
			}
			out = append(out, lo.OID)
		}
	}
	return out, nil
}

// lastSlot returns the number of slots below path and the id of the last one,
// reading only the right edge.
func (r *treeReader) lastSlot(root git.OID, path string) (n int, last git.OID, err error) {
	his, err := r.list(root, path)
	if err != nil || len(his) == 0 {
		return 0, "", err
	}
	hi := his[len(his)-1]
	if !hi.IsTree() {
		return 0, "", malformed(root, "%s/%s is not a directory", path, hi.Name)
	}
	los, err := r.entries(hi.OID)
	if err != nil {
		return 0, "", err
	}
	if len(los) > 0 {
		lo := los[len(los)-1]
		if i, ok := parseSlot(hi.Name, lo.Name); ok {
			return i + 1, lo.OID, nil
		}
	}
	return 0, "", malformed(root, "%s/%s holds no numbered entries", path, hi.Name)
}

// treeEdit derives a new tree from a recorded one. The recorded tree is not
// changed; only what differs becomes new objects.
type treeEdit struct {
	r       *treeReader
	root    *treeDir
	objects []git.Object
	queued  map[git.OID]bool
}

type treeDir struct {
	items   map[string]*treeItem
	changed bool
}

type treeItem struct {
	entry git.TreeEntry
	dir   *treeDir // set once the directory was opened
}

// edit starts from the tree root, or from an empty one when root is "".
func (r *treeReader) edit(root git.OID) (*treeEdit, error) {
	e := &treeEdit{r: r, queued: make(map[git.OID]bool)}
	var err error
	e.root, err = e.open(root)
	return e, err
}

func (e *treeEdit) open(oid git.OID) (*treeDir, error) {
	d := &treeDir{items: make(map[string]*treeItem)}
	if oid == "" {
		return d, nil
	}
	list, err := e.r.entries(oid)
	if err != nil {
		return nil, err
	}
	for _, entry := range list {
		d.items[entry.Name] = &treeItem{entry: entry}
	}
	return d, nil
}

// dir returns the directory at path ("" is the root). Without create a missing
// one is nil; with it the whole way is marked as changed.
func (e *treeEdit) dir(path string, create bool) (*treeDir, error) {
	d := e.root
	d.changed = d.changed || create
	for path != "" {
		var head string
		head, path, _ = strings.Cut(path, "/")
		it := d.items[head]
		switch {
		case it == nil && !create:
			return nil, nil
		case it == nil:
			it = &treeItem{entry: git.TreeEntry{Mode: git.ModeTree, Name: head}, dir: &treeDir{items: make(map[string]*treeItem)}}
			d.items[head] = it
		case it.dir == nil && !it.entry.IsTree():
			return nil, fmt.Errorf("tree entry %q is a file", head)
		case it.dir == nil:
			sub, err := e.open(it.entry.OID)
			if err != nil {
				return nil, err
			}
			it.dir = sub
		}
		d = it.dir
		d.changed = d.changed || create
	}
	return d, nil
}

// queue makes data an object of the edit and returns its id.
func (e *treeEdit) queue(kind string, data []byte) git.OID {
	oid := git.HashObject(e.r.format, kind, data)
	e.queueAs(oid, kind, data)
	return oid
}

func (e *treeEdit) queueAs(oid git.OID, kind string, data []byte) {
	if !e.queued[oid] {
		e.queued[oid] = true
		e.objects = append(e.objects, git.Object{Kind: kind, Data: data, OID: oid})
	}
}

// put sets the file at path. What is there already is not queued again: checking
// that an object is stored for good costs a sync, and this one is recorded.
func (e *treeEdit) put(path string, data []byte) error {
	oid := git.HashObject(e.r.format, git.KindBlob, data)
	parent, name := splitPath(path)
	if d, err := e.dir(parent, false); err == nil && d != nil && d.items[name] != nil {
		if was := d.items[name].entry; was.OID == oid && was.Mode == git.ModeFile {
			return nil
		}
	}
	e.queueAs(oid, git.KindBlob, data)
	return e.putEntry(path, git.TreeEntry{Mode: git.ModeFile, OID: oid})
}

// putEntry sets the entry at path to one that exists already.
func (e *treeEdit) putEntry(path string, entry git.TreeEntry) error {
	parent, name := splitPath(path)
	d, err := e.dir(parent, true)
	if err != nil {
		return err
	}
	entry.Name = name
	d.items[name] = &treeItem{entry: entry}
	return nil
}

// remove takes the entry at path away; directories left empty go when the tree
// is finished.
func (e *treeEdit) remove(path string) error {
	parent, name := splitPath(path)
	d, err := e.dir(parent, false)
	if err != nil || d == nil || d.items[name] == nil {
		return err
	}
	if d, err = e.dir(parent, true); err == nil {
		delete(d.items, name)
	}
	return err
}

func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// finish queues the changed trees and returns the root's id. Trees made here
// are known to the reader afterwards.
func (e *treeEdit) finish() git.OID {
	oid, _ := e.seal(e.root)
	return oid
}

func (e *treeEdit) seal(d *treeDir) (git.OID, int) {
	list := make([]git.TreeEntry, 0, len(d.items))
	for _, it := range d.items {
		if it.dir != nil && it.dir.changed {
			oid, n := e.seal(it.dir)
			if n == 0 {
				continue
			}
			it.entry.OID = oid
		}
		list = append(list, it.entry)
	}
	slices.SortFunc(list, git.CompareEntries)
	raw := git.EncodeTree(list)
	oid := e.queue(git.KindTree, raw)
	e.r.known[oid], e.r.parsed[oid] = raw, list
	return oid, len(list)
}

// rightEdge returns the raw trees below root that deriving the next operation
// needs: everything except evidence and all but the last part of each numbered
// directory. Only trees already read are included.
func (r *treeReader) rightEdge(root git.OID) map[git.OID][]byte {
	out := make(map[git.OID][]byte)
	var walk func(oid git.OID, path string)
	walk = func(oid git.OID, path string) {
		raw, ok := r.known[oid]
		if !ok {
			return
		}
		out[oid] = raw
		list, err := r.entries(oid)
		if err != nil {
			return
		}
		numbered := path == treeFiles || strings.HasPrefix(path, treeLedger+"/")
		for i, entry := range list {
			if !entry.IsTree() || path == "" && entry.Name == treeEvidence || numbered && i < len(list)-1 {
				continue
			}
			if strings.HasPrefix(path, treeFiles+"/") {
				continue // the contents of groups never change
			}
			walk(entry.OID, strings.TrimPrefix(path+"/"+entry.Name, "/"))
		}
	}
	walk(root, "")
	return out
}
