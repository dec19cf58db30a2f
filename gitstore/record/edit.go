// Deriving the tree of an operation from a recorded one, so that only the differences are written.

package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Edit derives a new tree from a recorded one, which stays unchanged; only differences become new objects.
type Edit struct {
	Reader  *Reader
	root    *treeDir
	Objects []object.Object
	queued  map[object.OID]bool
}

type treeDir struct {
	items   map[string]*treeItem
	changed bool
}

type treeItem struct {
	entry object.TreeEntry
	dir   *treeDir // set once the directory was opened
}

// Edit starts from the tree root, or from an empty one when root is "".
func (r *Reader) Edit(root object.OID) (*Edit, error) {
	e := &Edit{Reader: r, queued: make(map[object.OID]bool)}
	var err error
	e.root, err = e.open(root)
	return e, err
}

func (e *Edit) open(oid object.OID) (*treeDir, error) {
	d := &treeDir{items: make(map[string]*treeItem)}
	if oid == "" {
		return d, nil
	}
	list, err := e.Reader.Entries(oid)
	if err != nil {
		return nil, err
	}
	for _, entry := range list {
		d.items[entry.Name] = &treeItem{entry: entry}
	}
	return d, nil
}

// dir returns the directory at path ("" is the root). Without create a missing one is nil; with create every
// directory on the path is marked as changed.
func (e *Edit) dir(path string, create bool) (*treeDir, error) {
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
			it = &treeItem{
				entry: object.TreeEntry{Mode: object.ModeTree, Name: head},
				dir:   &treeDir{items: make(map[string]*treeItem)},
			}
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

// Queue makes data an object of the edit and returns its id.
func (e *Edit) Queue(kind string, data []byte) object.OID {
	oid := object.Hash(e.Reader.Format, kind, data)
	e.queueAs(oid, kind, data)
	return oid
}

func (e *Edit) queueAs(oid object.OID, kind string, data []byte) {
	if !e.queued[oid] {
		e.queued[oid] = true
		e.Objects = append(e.Objects, object.Object{Kind: kind, Data: data, OID: oid})
	}
}

// Put sets the file at path. It does not queue unchanged content: checking that an object is durable costs a sync,
// and this one is recorded.
func (e *Edit) Put(path string, data []byte) error {
	oid := e.Reader.BlobID(data)
	parent, name := splitPath(path)
	if d, err := e.dir(parent, false); err == nil && d != nil && d.items[name] != nil {
		if was := d.items[name].entry; was.OID == oid && was.Mode == object.ModeFile {
			return nil
		}
	}
	e.queueAs(oid, object.KindBlob, data)
	return e.PutEntry(path, object.TreeEntry{Mode: object.ModeFile, OID: oid})
}

// PutEntry sets the entry at path to an existing object.
func (e *Edit) PutEntry(path string, entry object.TreeEntry) error {
	parent, name := splitPath(path)
	d, err := e.dir(parent, true)
	if err != nil {
		return err
	}
	entry.Name = name
	d.items[name] = &treeItem{entry: entry}
	return nil
}

// Remove removes the entry at path; directories left empty are removed when the tree is finished.
func (e *Edit) Remove(path string) error {
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

// Finish queues the changed trees and returns the root's id. The reader knows these trees afterwards.
func (e *Edit) Finish() object.OID {
	oid, _ := e.seal(e.root)
	return oid
}

// Commit makes a commit an object of the edit and returns its id. what names it in the error for an invalid commit.
func (e *Edit) Commit(what string, c *object.Commit) (object.OID, error) {
	data, err := object.EncodeCommit(e.Reader.Format, c)
	if err != nil {
		return "", fail.Errorf(fail.CodeObjectInvalid, err, "%s cannot be written as a commit", what)
	}
	return e.Queue(object.KindCommit, data), nil
}

func (e *Edit) seal(d *treeDir) (object.OID, int) {
	list := make([]object.TreeEntry, 0, len(d.items))
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
	slices.SortFunc(list, object.CompareEntries)
	raw := object.EncodeSorted(list)
	oid := e.Queue(object.KindTree, raw)
	e.Reader.known[oid], e.Reader.parsed[oid] = raw, list
	return oid, len(list)
}

// Take sets top-level entries to those of another tree.
func (e *Edit) Take(root []object.TreeEntry, names ...string) error {
	for _, name := range names {
		i := slices.IndexFunc(root, func(t object.TreeEntry) bool { return t.Name == name })
		var err error
		if i < 0 {
			err = e.Remove(name)
		} else {
			err = e.PutEntry(name, root[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
