// The note written before a run's ref is created.

package gitstore

import (
	"encoding/binary"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// entering is the note written before a run's ref is created. Until state.json names the run, nothing else in the
// work tree leads to it: without the note, a crash in between would leave an unreachable run.
type entering struct {
	Run  string
	Op   object.OID
	From object.OID // operation the working files are at, "" when they are at none
	// Sizes and document ids of the working files before the run, so that
	// recovery can tell an old file from a foreign one.
	Ledgers map[wire.Ledger]int64
	Docs    map[wire.Document]object.OID
}

const enteringName = "entering"

func (n *entering) encode() []byte {
	b := private.PutBytes(nil, []byte(n.Run))
	b = private.PutBytes(b, []byte(n.Op))
	b = private.PutBytes(b, []byte(n.From))
	b = binary.AppendUvarint(b, uint64(len(n.Ledgers)))
	for _, l := range wire.Ledgers() {
		if size, ok := n.Ledgers[l]; ok {
			b = private.PutBytes(b, []byte(l))
			b = binary.AppendVarint(b, size)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(n.Docs)))
	for _, d := range wire.Documents() {
		if oid, ok := n.Docs[d]; ok {
			b = private.PutBytes(b, []byte(d))
			b = private.PutBytes(b, []byte(oid))
		}
	}
	return private.Seal(b)
}

func decodeEntering(data []byte) (*entering, error) {
	d, err := private.Unseal(data)
	if err != nil {
		return nil, err
	}
	e := &entering{Ledgers: make(map[wire.Ledger]int64), Docs: make(map[wire.Document]object.OID)}
	e.Run, e.Op, e.From = string(d.Bytes()), object.OID(d.Bytes()), object.OID(d.Bytes())
	for range d.Count() {
		l := wire.Ledger(d.Bytes())
		size := d.Int()
		if l.Path() == "" || size < 0 {
			return nil, private.ErrDamaged // it would not survive rewriting
		}
		e.Ledgers[l] = size
	}
	for range d.Count() {
		doc := wire.Document(d.Bytes())
		oid := object.OID(d.Bytes())
		if record.DocumentFile(doc) == "" {
			return nil, private.ErrDamaged
		}
		e.Docs[doc] = oid
	}
	if !d.Done() {
		return nil, private.ErrDamaged
	}
	return e, nil
}

func (s *Store) readEntering() *entering {
	data, err := private.Read(s.repo, enteringName, maxCache)
	if err != nil {
		return nil
	}
	n, err := decodeEntering(data)
	if err != nil {
		return nil
	}
	return n
}

func (s *Store) writeEntering(n *entering) error {
	return private.Write(s.repo, enteringName, n.encode())
}

func (s *Store) clearEntering() {
	// A leftover note is harmless: it names a run whose state is already here.
	_ = private.Remove(s.repo, enteringName)
}
