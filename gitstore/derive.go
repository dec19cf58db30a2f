// Deriving the tree of an operation from the one before: used to record an
// operation, and to prove that a recorded one follows from its predecessor.

package gitstore

import (
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// derivation changes a tree as a transition says. It touches neither disk nor
// repository.
type derivation struct {
	edit  *treeEdit
	root  git.OID // recorded tree it starts from; "" when the edit was filled from files
	marks map[wire.Ledger]ledgerMark
	// tail returns the last segment of a ledger, known by its id, when it is at
	// hand, else nil.
	tail func(l wire.Ledger, oid git.OID) []byte

	index   []byte
	changes []ledgerChange
}

// ledgerChange is what a transition does to one ledger.
type ledgerChange struct {
	ledger wire.Ledger
	offset int64 // size before
	data   []byte
	amends []ledger.Amend
}

// apply puts documents, index, ledgers and files of t into the tree and takes
// bundles of ended turns out.
func (d *derivation) apply(t *protocol.Transition, state []byte) error {
	for doc, data := range t.Documents {
		if doc == wire.DocState || docTreePath(doc) == "" {
			continue
		}
		if err := d.edit.put(docTreePath(doc), data); err != nil {
			return err
		}
	}
	if err := d.edit.put(treeState, state); err != nil {
		return err
	}
	d.index = t.Index.Encode()
	if err := d.edit.put(treeIndex, d.index); err != nil {
		return err
	}
	for _, l := range wire.Ledgers() {
		if err := d.ledger(t, l); err != nil {
			return err
		}
	}
	for _, turn := range t.DropTurns {
		if err := d.edit.remove(treeBundles + "/" + turn); err != nil {
			return err
		}
	}
	return d.files(t.Files)
}

// ledger amends lines, then appends.
func (d *derivation) ledger(t *protocol.Transition, l wire.Ledger) error {
	c := ledgerChange{ledger: l, offset: d.marks[l].Size}
	for _, a := range t.Appends {
		if a.Ledger == l {
			c.data = append(c.data, a.Data...)
		}
	}
	for _, a := range t.Amends {
		if a.Ledger == l {
			c.amends = append(c.amends, a)
		}
	}
	if len(c.data) == 0 && len(c.amends) == 0 {
		return nil
	}
	m := d.marks[l]
	le, err := d.edit.r.ledger(d.root, l)
	if err == nil && d.root == "" && m.Segments > 0 {
		// The segments are in the edit, not in a recorded tree.
		le, err = d.edit.pendingLedger(l, m)
	}
	if err != nil {
		return err
	}
	if d.tail != nil {
		le.known = func(oid git.OID) []byte { return d.tail(l, oid) }
	}
	for _, a := range c.amends {
		if err := le.amend(a.Old, a.New); err != nil {
			return err
		}
	}
	if len(c.data) > 0 {
		if err := le.append(c.data); err != nil {
			return err
		}
	}
	m.Size += le.grown
	if m.Segments, m.Tail, err = le.write(d.edit); err != nil {
		return err
	}
	d.marks[l] = m
	d.changes = append(d.changes, c)
	return nil
}

// files adds the operation's files as one group.
func (d *derivation) files(files []protocol.FileWrite) error {
	if len(files) == 0 {
		return nil
	}
	n := 0
	if d.root != "" {
		var err error
		if n, _, err = d.edit.r.lastSlot(d.root, treeFiles); err != nil {
			return err
		}
	}
	hi, lo := slot(n)
	for _, f := range files {
		if err := d.edit.put(path.Join(treeFiles, hi, lo, strings.TrimPrefix(f.Path, projectDir+"/")), f.Data); err != nil {
			return err
		}
	}
	return nil
}
