// The urgent intent.

package intake

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
)

// Priority is an intent that asks to be worked on before anything else.
type Priority struct {
	ID, Priority string

	doc *ojson.Object
}

// For reports whether the intent is handed out to a turn of the run, so that a loop need not yield
// for it.
func (p *Priority) For(run string) bool {
	return intents.Of(p.doc, run) && intents.Open(p.doc)
}

// Urgent returns the intent that the marker names, nil when there is none or it has been dealt with
// (docs/run-loop.md#what-becomes-of-a-turn). An unreadable file counts as none.
func Urgent(dir string) *Priority {
	const most = 1 << 20 // bytes
	marker := document(dir, intents.PriorityMarker, most)
	id := marker.String("intent_id")
	if id == "" {
		return nil
	}
	doc := document(dir, intents.Path(id), most)
	switch doc.String("status") {
	case "approved", "planned", "triaged", "detected":
		return &Priority{ID: id, Priority: marker.String("priority"), doc: doc}
	}
	return nil
}
