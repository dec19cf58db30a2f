// Deriving the tree of an operation from its predecessor's: used to record an operation, and to prove that a
// recorded one follows from its predecessor.

package record

import (
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Derivation changes a tree according to a transition. It touches neither disk nor repository.
type Derivation struct {
	Edit  *Edit
	Root  object.OID // recorded tree it starts from; "" when the edit was filled from files
	Marks map[wire.Ledger]LedgerMark
	// Tail returns the last segment of a ledger, by its id, when it is in memory, else nil.
	Tail func(l wire.Ledger, oid object.OID) []byte

	Index   []byte
	Changes []LedgerChange
}

// LedgerChange is a transition's change to one ledger.
type LedgerChange struct {
	Ledger wire.Ledger
	Offset int64 // size before
	Data   []byte
	Amends []ledger.Amend
}

// Apply puts documents, index, ledgers and files of t into the tree and removes bundles of ended turns.
func (d *Derivation) Apply(t *protocol.Transition, state []byte) error {
	for doc, data := range t.Documents {
		if doc == wire.DocState || DocumentFile(doc) == "" {
			continue
		}
		if err := d.Edit.Put(DocumentFile(doc), data); err != nil {
			return err
		}
	}
	if err := d.Edit.Put(FileState, state); err != nil {
		return err
	}
	d.Index = t.Index.Encode()
	if err := d.Edit.Put(FileIndex, d.Index); err != nil {
		return err
	}
	for _, l := range wire.Ledgers() {
		if err := d.Ledger(t, l); err != nil {
			return err
		}
	}
	for _, turn := range t.DropTurns {
		if err := d.Edit.Remove(DirBundles + "/" + turn); err != nil {
			return err
		}
	}
	return d.files(t.Files)
}

// Ledger amends lines, then appends.
func (d *Derivation) Ledger(t *protocol.Transition, l wire.Ledger) error {
	c := LedgerChange{Ledger: l, Offset: d.Marks[l].Size}
	for _, a := range t.Appends {
		if a.Ledger == l {
			c.Data = append(c.Data, a.Data...)
		}
	}
	for _, a := range t.Amends {
		if a.Ledger == l {
			c.Amends = append(c.Amends, a)
		}
	}
	if len(c.Data) == 0 && len(c.Amends) == 0 {
		return nil
	}
	m := d.Marks[l]
	le, err := d.Edit.Reader.EditLedger(d.Root, l)
	if err == nil && d.Root == "" && m.Segments > 0 {
		// The segments are in the edit, not in a recorded tree.
		le, err = d.Edit.pendingLedger(l, m)
	}
	if err != nil {
		return err
	}
	if d.Tail != nil {
		le.known = func(oid object.OID) []byte { return d.Tail(l, oid) }
	}
	for _, a := range c.Amends {
		if err := le.amend(a.Old, a.New); err != nil {
			return err
		}
	}
	if len(c.Data) > 0 {
		if err := le.append(c.Data); err != nil {
			return err
		}
	}
	m.Size += le.grown
	if m.Segments, m.Tail, err = le.write(d.Edit); err != nil {
		return err
	}
	d.Marks[l] = m
	d.Changes = append(d.Changes, c)
	return nil
}

// files adds the operation's files as one group.
func (d *Derivation) files(files []protocol.FileWrite) error {
	if len(files) == 0 {
		return nil
	}
	n := 0
	if d.Root != "" {
		var err error
		if n, _, err = d.Edit.Reader.LastSlot(d.Root, DirFiles); err != nil {
			return err
		}
	}
	hi, lo := Slot(n)
	for _, f := range files {
		if err := d.Edit.Put(path.Join(DirFiles, hi, lo, strings.TrimPrefix(f.Path, ProjectDir+"/")),
			f.Data); err != nil {
			return err
		}
	}
	return nil
}
