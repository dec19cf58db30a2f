// Reading a run at its ref, whether or not it is this work tree's run.

package chain

import (
	"encoding/hex"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ConfigBytes returns the operation's configuration, encoded.
func (x *RecordedRun) ConfigBytes() ([]byte, error) {
	return x.Reader.Required(x.Root, record.FileConfig)
}

// Config returns the operation's configuration.
func (x *RecordedRun) Config() (*config.Config, error) {
	data, err := x.ConfigBytes()
	if err != nil {
		return nil, err
	}
	cfg, _, err := config.Decode(data)
	return cfg, err
}

// StateBytes returns state.json after the operation.
func (x *RecordedRun) StateBytes() ([]byte, error) {
	return x.Reader.Required(x.Root, record.FileState)
}

// State returns the decoded state.json after the operation, as written.
func (x *RecordedRun) State() (*run.State, error) {
	data, err := x.StateBytes()
	if err != nil {
		return nil, err
	}
	return decodeState(data)
}

// decodeState is run.DecodeState with an untyped nil error.
func decodeState(data []byte) (*run.State, error) {
	st, perr := run.DecodeState(data)
	if perr != nil {
		return nil, perr
	}
	return st, nil
}

// Record returns op.json: the operation, its arguments, time and actor.
func (x *RecordedRun) Record() (*ojson.Object, error) {
	data, err := x.Reader.Required(x.Root, record.FileRecord)
	if err != nil {
		return nil, err
	}
	return ojson.DecodeObject(data)
}

// Evidence returns a piece of the operation's evidence by the SHA-256 in its record (64 hex digits); false when the
// operation has no such evidence.
func (x *RecordedRun) Evidence(sha256 string) ([]byte, bool, error) {
	if _, err := hex.DecodeString(sha256); err != nil || len(sha256) != 64 || strings.ToLower(sha256) != sha256 {
		return nil, false, nil
	}
	return x.Reader.File(x.Root, record.DirEvidence+"/"+sha256)
}

// Rows yields the rows of a ledger from the first on. Ledgers outlive runs: rows of earlier runs come first and
// name their run. It holds one segment (some 16 KiB) at a time and skips lines that are not JSON objects.
func (x *RecordedRun) Rows(l wire.Ledger) iter.Seq2[run.Line, error] {
	return func(yield func(run.Line, error) bool) {
		segs, err := x.Reader.Slots(x.Root, record.LedgerDir(l), false)
		if err != nil {
			yield(run.Line{}, err)
			return
		}
		for _, oid := range segs {
			data, err := x.Reader.Blob(oid)
			if err != nil {
				yield(run.Line{}, err)
				return
			}
			for row := range record.RowsOf(data) {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// Appended returns the rows appended to a ledger since an earlier operation of the same run. It reads only what
// differs. ok is false when existing rows changed as well: a caller that caches rows must then read them all again.
func (x *RecordedRun) Appended(l wire.Ledger, since *RecordedRun) (rows []run.Line, ok bool, err error) {
	diff, err := x.Reader.DiffLedger(since.Root, x.Root, l)
	if err != nil {
		return nil, false, err
	}
	if diff.Kind != record.Same && (diff.Kind != record.Extended || len(diff.Amends) > 0) {
		return nil, false, nil
	}
	return slices.Collect(record.RowsOf(diff.Appended)), true, nil
}

// File returns a governed file by its project-relative path: a document, a file of the bundle of an active turn, or
// one that an operation created below .agentxchain (a review, a proposal, a rejected result). Use Rows for ledgers.
func (x *RecordedRun) File(name string) (data []byte, ok bool, err error) {
	r, root := x.Reader, x.Root
	for _, d := range wire.Documents() {
		if string(d) == name {
			return r.File(root, record.DocumentFile(d))
		}
	}
	if !record.SafeFile(name) && !strings.HasPrefix(name, wire.DispatchDir+"/") || path.Clean(name) != name {
		return nil, false, nil
	}
	if rest, found := strings.CutPrefix(name, wire.DispatchDir+"/"); found {
		return r.File(root, record.DirBundles+"/"+rest)
	}
	groups, err := r.Slots(root, record.DirFiles, true)
	if err != nil {
		return nil, false, err
	}
	for _, g := range slices.Backward(groups) { // a later operation's file takes precedence
		e, found, err := r.Lookup(g, strings.TrimPrefix(name, record.ProjectDir+"/"))
		if err != nil {
			return nil, false, err
		}
		if found && !e.IsTree() {
			data, err = r.Blob(e.OID)
			return data, err == nil, err
		}
	}
	return nil, false, nil
}
