// Abandonment: what the state of a run that a person ended says about it.

package run

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// EventAbandoned is the type of the last row of a run that a person ended. Its payload: reason, by {name, email},
// from_status, dropped_turns[].
const EventAbandoned = "run_abandoned"

// Abandonment is the state's member abandoned, an addition of ours: who ended the run for good, and why
// (docs/spec/lifecycle.md#abandoning-a-run).
type Abandonment struct {
	At         string        `json:"at"`
	By         *ojson.Object `json:"by"` // {name, email}
	Reason     string        `json:"reason"`
	FromStatus wire.Status   `json:"from_status"`
	Extra      ojson.Extra
}

// Text says in one sentence who ended the run and why; "" for a run that no person ended.
func (a *Abandonment) Text() string {
	if a == nil {
		return ""
	}
	return "abandoned by " + wire.OneLine(a.By.String("name")) + ": " + wire.OneLine(a.Reason)
}

func (a *Abandonment) copy(f objectCopy) *Abandonment {
	if a == nil {
		return nil
	}
	c := *a
	c.By, c.Extra = f(a.By), f.extra(a.Extra)
	return &c
}
