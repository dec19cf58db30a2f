// Storing older versions of a file as differences to newer ones when packs are folded. git
// does not try that for objects that lie whole in one pack, so it has to be done here.

package pack

import (
	"bytes"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

const (
	// MaxLinked bounds what is compared at once, in bytes of packs; more is folded as it is.
	MaxLinked = 4 << 20
	// linkDepth is git's own limit for the chains it makes (pack.depth).
	linkDepth = 50
)

// linker holds the entries of packs that are folded, each object once.
type linker struct {
	format  string
	order   []string // raw ids
	entries map[string]*linked
}

type linked struct {
	Stored
	base   string // raw id of what it is a difference to, "" for one that is whole
	height int    // of the longest chain that leads to it
	kind   string // once it was read, with its contents
	data   []byte
}

// Link returns the entries of packs that are folded, each object once: of a file that
// changes older versions are differences to newer ones.
func Link(format string, packs [][]Stored) []Stored {
	l := newLinker(format, packs)
	l.link()
	out := make([]Stored, len(l.order))
	for i, id := range l.order {
		out[i] = l.entries[id].Stored
	}
	return out
}

// newLinker takes the first of each object.
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

// raise tells what an object is a difference to how long the chain to it is.
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

// depth is how many differences an object is made of. ok is false where the chain leads to
// other, which it must not.
func (l *linker) depth(id, other string) (n int, ok bool) {
	for e := l.entries[id]; e != nil && e.base != ""; e = l.entries[e.base] {
		if n++; e.base == other || n > linkDepth {
			return n, false
		}
	}
	return n, true
}

// link makes every version of a file that a later operation replaced a difference to the next one.
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

// trees goes through a tree and the one that it replaced, "" for none.
func (l *linker) trees(old, now, name string, names map[string]string) {
	if old == now {
		return
	}
	kind, data := l.read(now, 0)
	if kind != object.KindTree {
		return // as it was before what is folded
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
			// A new file is often like the last one of its name, as those of each turn's
			// bundle are; one that is named by its contents, like the last of its directory.
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

// difference stores old by what it differs in from now, if both are here and it is shorter.
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
	delta := MakeDelta(data, oldData)
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

// read returns an object, "" for one that is not here or cannot be read. deep is how many
// differences led to it.
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
		return "", nil // damage is fsck's to name; nothing is made to depend on it
	}
	e.kind, e.data = kind, data
	return kind, data
}
