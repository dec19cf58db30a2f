// The index of all bundles.

package turnfiles

import (
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// TurnsMoved reports whether the index of the bundles would differ.
func TurnsMoved(before, after *run.State) bool {
	if before.Run() != after.Run() || before.Phase != after.Phase ||
		before.ActiveTurns.Len() != after.ActiveTurns.Len() {
		return true
	}
	for id, a := range after.ActiveTurns.All() {
		b, ok := before.ActiveTurns.Get(id)
		if !ok || a == nil || b == nil || a.Status != b.Status || a.Attempt != b.Attempt ||
			a.AssignedRole != b.AssignedRole || a.RuntimeID != b.RuntimeID {
			return true
		}
	}
	return false
}

// Index returns the present dispatch/index.json, nil when there is none to be read.
func Index(dir string) []byte {
	data, err := projectfile.Read(dir, string(wire.DocDispatchIndex), projectfile.MaxGate)
	if err != nil {
		return nil
	}
	return data
}
