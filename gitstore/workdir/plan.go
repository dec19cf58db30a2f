// Plans that take the working files from one recorded operation to a later one, and their removals.

package workdir

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Plan is everything that takes the working files from one operation to a later one.
type Plan struct {
	Ledgers []LedgerWrite // in Ledgers order
	Docs    map[wire.Document][]byte
	Bundles map[string]map[string][]byte // turn -> file -> bytes
	Files   []protocol.FileWrite
	Drops   []string                         // turns whose bundle and staged result are removed
	Unstage []string                         // turns of which only the staged result is removed
	Remove  []string                         // documents an operation no longer has
	Proof   func(data []byte) bool           // reports whether a recorded operation keeps these bytes
	added   map[string]map[string]object.OID // turn -> supplements of its recorded bundle
	format  string                           // format of the ids in added
}

// LedgerWrite appends data at offset, or replaces everything after offset, or the whole file.
type LedgerWrite struct {
	Ledger  wire.Ledger
	Offset  int64
	Data    []byte
	Old     []byte // everything after offset, when that is replaced
	Replace bool
}

// DropTurn removes what belongs to an ended turn: bundle files, adapter by-products, and the staged result if the
// run keeps its bytes. Any other file may be a person's and stays, and with it its directory. If the turn was
// dispatched again its new bundle stays.
func (w *Dir) DropTurn(turn string, p *Plan) error {
	if !record.SafeName(turn) {
		return nil
	}
	_, renewed := p.Bundles[turn]
	if err := w.unstageTurn(turn, p.Proof); err != nil || renewed {
		return err
	}
	if err := w.removeSupplements(p, turn, nil); err != nil {
		return err
	}
	// The seal first: without it the rest is not a bundle.
	names := record.BundleFiles()
	slices.Reverse(names)
	return w.clearDir(wire.BundleDir(turn), names)
}

// unstageTurn removes a turn's staged result, if the run keeps its bytes, and what adapters left beside it.
func (w *Dir) unstageTurn(turn string, proof func([]byte) bool) error {
	if !record.SafeName(turn) {
		return nil
	}
	for _, name := range []string{wire.StagingPath(turn), wire.FlatStagingPath} {
		data, _, ok, err := w.Read(name, MaxDocument)
		// An unreadable or replaced file is not the one we recorded: it stays.
		if err != nil || !ok || proof == nil || !proof(data) {
			continue
		}
		if err := w.RemoveFile(name); err != nil {
			return err
		}
	}
	return w.clearDir(wire.StagingDir+"/"+turn, record.ByProducts())
}
