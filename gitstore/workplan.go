// What brings the working files from one recorded operation to a later one, and the removals in it.

package gitstore

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// workPlan is everything that brings the working files from one operation to a
// later one.
type workPlan struct {
	ledgers []ledgerWrite // in Ledgers order
	docs    map[wire.Document][]byte
	bundles map[string]map[string][]byte // turn -> file -> bytes
	files   []protocol.FileWrite
	drops   []string                      // turns whose bundle and staged result go
	unstage []string                      // turns whose staged result alone goes
	remove  []string                      // documents an operation no longer has
	proof   func(data []byte) bool        // whether these bytes are kept by a recorded operation
	added   map[string]map[string]git.OID // turn -> supplements of its recorded bundle
	format  string                        // of the ids in added
}

// ledgerWrite appends data at offset, or replaces what follows offset, or the
// whole file.
type ledgerWrite struct {
	ledger  wire.Ledger
	offset  int64
	data    []byte
	old     []byte // all that follows offset, when that is replaced
	replace bool
}

// dropTurn removes what belongs to a turn that has ended: bundle files, adapter
// by-products, and the staged result if its bytes are kept in the run. Any other
// file is somebody's and stays, and with it its directory. When the turn was
// dispatched again its new bundle stays.
func (w *workDir) dropTurn(turn string, p *workPlan) error {
	if !record.SafeName(turn) {
		return nil
	}
	_, renewed := p.bundles[turn]
	if err := w.unstageTurn(turn, p.proof); err != nil || renewed {
		return err
	}
	if err := w.removeSupplements(p, turn, nil); err != nil {
		return err
	}
	// The seal first: without it the rest is no bundle.
	names := record.BundleFiles()
	slices.Reverse(names)
	return w.clearDir(wire.BundleDir(turn), names)
}

// unstageTurn removes a turn's staged result, if its bytes are kept in the run,
// and what adapters left beside it.
func (w *workDir) unstageTurn(turn string, proof func([]byte) bool) error {
	if !record.SafeName(turn) {
		return nil
	}
	for _, name := range []string{wire.StagingPath(turn), wire.FlatStagingPath} {
		data, _, ok, err := w.read(name, maxDocument)
		// An unreadable or replaced file is not the one we recorded: it stays.
		if err != nil || !ok || proof == nil || !proof(data) {
			continue
		}
		if err := w.removeFile(name); err != nil {
			return err
		}
	}
	return w.clearDir(wire.StagingDir+"/"+turn, record.ByProducts())
}
