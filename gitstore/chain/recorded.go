// A run as one operation recorded it, and all its governed files.

package chain

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RecordedRun is a run as one operation recorded it: everything read from it is of that moment and independent of
// the working files. Once open, it takes no lock and starts no process. It is not safe for concurrent use.
type RecordedRun struct {
	Run    string
	Op     object.OID // the operation it is read at
	Root   object.OID // its tree
	Reader *record.Reader
	Marks  map[wire.Ledger]record.LedgerMark // nil without a stat cache for Op
	Index  []byte                            // index.json, nil when not read yet
}

// At loads what operation op of run recorded.
func At(r *record.Reader, run string, op object.OID) (*RecordedRun, error) {
	c, err := r.Commit(op)
	if err != nil {
		return nil, err
	}
	return &RecordedRun{Run: run, Op: op, Root: c.Tree, Reader: r}, nil
}

// DocOID returns the recorded blob of a document, "" when it was absent.
func (x *RecordedRun) DocOID(d wire.Document) (object.OID, error) {
	e, ok, err := x.Reader.Lookup(x.Root, record.DocumentFile(d))
	if err != nil || !ok {
		return "", err
	}
	if e.IsTree() {
		return "", record.Malformed(x.Root, "%s is a directory", record.DocumentFile(d))
	}
	return e.OID, nil
}

// ReadIndex returns the index an operation recorded.
func (x *RecordedRun) ReadIndex() (*run.Index, error) {
	e, ok, err := x.Reader.Lookup(x.Root, record.FileIndex)
	if err != nil {
		return nil, err
	}
	if !ok || e.IsTree() {
		return nil, record.Malformed(x.Root, "there is no %s", record.FileIndex)
	}
	if x.Index == nil || x.Reader.BlobID(x.Index) != e.OID {
		if x.Index, err = x.Reader.Blob(e.OID); err != nil {
			return nil, err
		}
	}
	index, err := run.DecodeIndex(x.Index)
	if err != nil {
		return nil, record.Malformed(x.Root, "%s: %v", record.FileIndex, err)
	}
	return index, nil
}

// BundleFilesAt lists the files of a turn's recorded bundle by their path below
// the bundle directory.
func (x *RecordedRun) BundleFilesAt(turn string) (map[string]object.OID, error) {
	e, ok, err := x.Reader.Lookup(x.Root, record.DirBundles+"/"+turn)
	if err != nil || !ok || !e.IsTree() {
		return nil, err
	}
	return x.Reader.BundleFiles(e.OID)
}

// Keeps reports whether data was recorded as the file called name.
func (x *RecordedRun) Keeps(name string, data []byte) bool {
	oid := x.Reader.BlobID(data)
	groups, err := x.Reader.Slots(x.Root, record.DirFiles, true)
	if err != nil {
		return false
	}
	for _, g := range groups {
		e, ok, err := x.Reader.Lookup(g, strings.TrimPrefix(name, record.ProjectDir+"/"))
		if err == nil && ok && e.OID == oid {
			return true
		}
	}
	return false
}
