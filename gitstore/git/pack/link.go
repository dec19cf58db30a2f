// Storing older versions of a file as deltas of newer ones when packs are folded. git does not try that for whole
// objects in the same pack, so it has to be done here.

package pack

import (
	"bytes"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

const (
	// MaxLinked bounds how much is compared at once, in bytes of packs; more is folded unchanged.
	MaxLinked = 4 << 20
	// linkDepth is git's own limit for the chains it makes (pack.depth).
	linkDepth = 50
)

// linker holds the entries of the packs being folded, each object once.
type linker struct {
	format  string
	order   []string // raw ids
	entries map[string]*linked
}

type linked struct {
	Stored
	base   string // raw id of the delta's base, "" for a whole object
	height int    // length of the longest delta chain based on it
	kind   string // contents once read, with kind
	data   []byte
}

// Link returns the entries of the packs being folded, each object once: older versions of a changing file become
// deltas of newer ones.
func Link(format string, packs [][]Stored) []Stored {
	l := newLinker(format, packs)
	l.link()
	out := make([]Stored, len(l.order))
	for i, id := range l.order {
		out[i] = l.entries[id].Stored
	}
	return out
}

// newLinker keeps the first copy of each object.
func newLinker(format string, packs [][]Stored) *linker {
	l := &linker{format: format, entries: make(map[string]*linked)}
	for _, entries := range packs {
		for _, e := range entries {
			if id := string(e.Raw); l.entries[id] == nil {
				l.entries[id] = &linked{Stored: e, base: string(e.base)}
				l.order = append(l.order, id)
			}
		}
	}
	for _, id := range l.order {
		l.raise(id)
	}
	return l
}

// raise propagates the length of a delta chain to the bases it is built on.
func (l *linker) raise(id string) {
	for e := l.entries[id]; e != nil && e.base != ""; {
		up := l.entries[e.base]
		if up == nil || up.height > e.height {
			return
		}
		up.height = e.height + 1
		e = up
	}
}

// depth returns the length of an object's delta chain. ok is false where the chain leads to other, which it must
// not.
func (l *linker) depth(id, other string) (n int, ok bool) {
	for e := l.entries[id]; e != nil && e.base != ""; e = l.entries[e.base] {
		if n++; e.base == other || n > linkDepth {
			return n, false
		}
	}
	return n, true
}

// link turns each file version that a later operation replaced into a delta of its successor.
func (l *linker) link() {
	names := make(map[string]string) // the last blob of a name
	for _, id := range l.order {
		kind, data := l.read(id, 0)
		if kind != object.KindCommit {
			continue
		}
		commit, err := object.ParseCommit(l.format, data)
		if err != nil {
			continue
		}
		tree, _ := commit.Tree.Raw()
		var before []byte
		if len(commit.Parents) > 0 {
			parent, _ := commit.Parents[0].Raw()
			if kind, data := l.read(string(parent), 0); kind == object.KindCommit {
				if was, err := object.ParseCommit(l.format, data); err == nil {
					before, _ = was.Tree.Raw()
				}
				l.difference(string(parent), id)
			}
		}
		l.trees(string(before), string(tree), "", names)
	}
}

// trees compares a tree with the one it replaced, "" for none.
func (l *linker) trees(old, now, name string, names map[string]string) {
	if old == now {
		return
	}
	kind, data := l.read(now, 0)
	if kind != object.KindTree {
		return // from before the packs being folded
	}
	entries, err := object.ParseTree(l.format, data)
	if err != nil {
		return
	}
	was := make(map[string]object.TreeEntry)
	if kind, data := l.read(old, 0); kind == object.KindTree {
		list, err := object.ParseTree(l.format, data)
		if err != nil {
			return
		}
		for _, e := range list {
			was[e.Name] = e
		}
	}
	for _, e := range entries {
		raw, _ := e.OID.Raw()
		before, _ := was[e.Name].OID.Raw()
		switch {
		case bytes.Equal(raw, before):
		case e.IsTree():
			if !was[e.Name].IsTree() {
				before = nil
			}
			l.trees(string(before), string(raw), e.Name, names)
		default:
			// A new file is often similar to the last one of its name, such as those of each turn's bundle; one
			// named by its content is similar to the last in its directory.
			key := e.Name
			if len(key) >= 40 {
				key = name + "/"
			}
			if before == nil {
				before = []byte(names[key])
			}
			l.difference(string(before), string(raw))
			names[key] = string(raw)
		}
	}
	l.difference(old, now)
}

// difference stores old as a delta of now, if both are here and the delta is shorter.
func (l *linker) difference(old, now string) {
	o, n := l.entries[old], l.entries[now]
	if o == nil || n == nil || o == n || o.base != "" || len(o.Entry) < deltaMin {
		return
	}
	deep, ok := l.depth(now, old)
	if !ok || deep+1+o.height > linkDepth {
		return
	}
	oldKind, oldData := l.read(old, 0)
	kind, data := l.read(now, 0)
	if oldKind != kind || kind == "" || len(oldData) > deltaMax || len(data) > deltaMax {
		return
	}
	delta := makeDelta(data, oldData)
	if len(delta) > len(oldData)/2 {
		return
	}
	var b bytes.Buffer
	writeEntryHead(&b, refDelta, len(delta))
	b.WriteString(now)
	if err := object.Deflate(&b, delta); err != nil || b.Len() >= len(o.Entry) {
		return
	}
	o.Entry, o.base = b.Bytes(), now
	l.raise(old)
}

// read returns an object, "" for one that is missing or unreadable. deep is how many deltas led to it.
func (l *linker) read(id string, deep int) (kind string, data []byte) {
	e := l.entries[id]
	if e == nil || deep > linkDepth {
		return "", nil
	}
	if e.kind != "" {
		return e.kind, e.data
	}
	head, err := entryHeader(e.Entry, 0)
	if err != nil || head.size > MaxStored {
		return "", nil
	}
	at := head.data
	if head.kind == "" {
		at += int64(len(e.Stored.base))
	}
	if data, err = object.Inflate(bytes.NewReader(e.Entry[at:]), head.size); err != nil {
		return "", nil
	}
	if kind = head.kind; kind == "" {
		var base []byte
		if kind, base = l.read(string(e.Stored.base), deep+1); kind == "" {
			return "", nil
		}
		if data, err = ApplyDelta(base, data, MaxStored); err != nil {
			return "", nil
		}
	}
	if object.Hash(l.format, kind, data) != object.OIDFromRaw([]byte(id)) {
		return "", nil // fsck reports damage; nothing may depend on it
	}
	e.kind, e.data = kind, data
	return kind, data
}
