// What a person took as it is: a member of the state, an addition of ours.

package run

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Overrule is an entry of the state's member overruled, an addition of ours: a person saw what stopped a turn or a
// gate and takes it as it is (docs/spec/lifecycle.md#taking-a-turn-as-it-is). It exists until the turn is over.
type Overrule struct {
	On      string        `json:"on"`                // policy:<id> or hook:<phase>:<name>
	TurnID  string        `json:"turn_id,omitempty"` // "" for a gate
	Attempt int           `json:"attempt,omitempty"` // of the turn
	Said    []string      `json:"said"`              // what was said, in the spelling of OverruleKey
	Content string        `json:"content"`           // sha256:<hex> of the content it was said of
	At      string        `json:"at"`
	By      *ojson.Object `json:"by"` // {name, email}
	Reason  string        `json:"reason"`
	Extra   ojson.Extra
}

func (o *Overrule) copy(f objectCopy) *Overrule {
	c := *o
	c.By, c.Said, c.Extra = f(o.By), slices.Clone(o.Said), f.extra(o.Extra)
	return &c
}
