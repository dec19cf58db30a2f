// A governed file as the newest operation recorded it, for callers that have to restore it.

package gitstore

import (
	"context"
	"io/fs"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Records reports whether name is a ledger or a document of the transaction's run: Recorded can then return what
// its file was when the transaction reached the newest operation.
func (tx *Tx) Records(name string) bool {
	if tx.rec == nil {
		return false
	}
	_, _, ok := recordedPath(name)
	return ok
}

// Recorded returns the contents of a ledger or document as the newest operation recorded them. The error is
// fs.ErrNotExist for any other name and for a file that the operation lacks.
func (tx *Tx) Recorded(ctx context.Context, name string) ([]byte, error) {
	l, tree, ok := recordedPath(name)
	if !ok || tx.rec == nil {
		return nil, fs.ErrNotExist
	}
	r := tx.store.reader(ctx)
	rec, err := chain.At(r, tx.rec.Run, tx.rec.Op)
	if err != nil {
		return nil, err
	}
	if l != "" {
		data, err := r.Ledger(rec.Root, l)
		if err == nil && data == nil {
			err = fs.ErrNotExist
		}
		return data, err
	}
	data, ok, err := r.File(rec.Root, tree)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return data, err
}

// recordedPath returns what a working file is in a record: a ledger, or a document and its place in the tree.
func recordedPath(name string) (l wire.Ledger, tree string, ok bool) {
	for _, l := range wire.Ledgers() {
		if l.Path() == name {
			return l, "", true
		}
	}
	tree = record.DocumentFile(wire.Document(name))
	return "", tree, tree != ""
}
