// Fuzz tests of reading what the store and other tools leave beside the record.

package gitstore

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// FuzzNotes checks that no note makes a reader panic, and that an accepted note can be written again.
func FuzzNotes(f *testing.F) {
	e := &entering{
		Run:     "run_1",
		Op:      object.OID("ab"),
		Ledgers: map[wire.Ledger]int64{wire.LedgerHistory: 7},
		Docs:    map[wire.Document]object.OID{wire.DocState: "cd"},
	}
	n := &openBundle{Run: "run_1", Turn: "turn_1", Files: []string{"PROMPT.md"}}
	for _, s := range [][]byte{e.encode(), n.encode(),
		[]byte(`{"kind":"accept_turn","status":"prepared","turn_id":"turn_1","run_id":"run_1","accepted_sequence":1,"next_state":{},"ledger_entries":[{}]}`)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if e, err := decodeEntering(data); err == nil {
			if _, err := decodeEntering(e.encode()); err != nil {
				t.Errorf("entering: %v", err)
			}
		}
		if n, err := decodeOpenBundle(data); err == nil {
			if _, err := decodeOpenBundle(n.encode()); err != nil {
				t.Errorf("open bundle: %v", err)
			}
		}
		if j, ok := decodeJournal(data); ok && (!record.SafeName(j.turn) || j.next == nil) {
			t.Errorf("journal: %+v", j)
		}
	})
}
