// The urgent intent.

package intake

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
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
	read := func(path string) *ojson.Object {
		data, err := projectfile.Read(dir, path, 1<<20)
		if err != nil || data == nil {
			return nil
		}
		o, err := ojson.DecodeObject(data)
		if err != nil {
			return nil
		}
		return o
	}
	marker := read(".agentxchain/intake/injected-priority.json")
	id := marker.String("intent_id")
	path := ".agentxchain/intake/intents/" + id + ".json"
	if clean, problem := wire.CleanPath(path); id == "" || problem != "" || clean != path {
		return nil
	}
	doc := read(path)
	switch doc.String("status") {
	case "approved", "planned", "triaged", "detected":
		return &Priority{ID: id, Priority: marker.String("priority"), doc: doc}
	}
	return nil
}
