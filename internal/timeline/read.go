// Reading ledgers, and pictures that were written.

package timeline

import (
	"encoding/json"
	"iter"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Facts reads the three ledgers for the picture, in the order Build expects.
func Facts(rows func(wire.Ledger) iter.Seq2[*ojson.Object, error]) (facts []*Fact, err error) {
	for _, l := range [...]struct {
		ledger wire.Ledger
		of     func(*ojson.Object) *Fact
	}{{wire.LedgerEvents, Event}, {wire.LedgerHistory, History}, {wire.LedgerDecisions, Decision}} {
		for row, err := range rows(l.ledger) {
			if err != nil {
				return nil, err
			}
			if f := l.of(row); f != nil {
				facts = append(facts, f)
			}
		}
	}
	return facts, nil
}

// Object returns the picture as JSON, with a list for each of its parts, which may be empty.
func (p *Picture) Object() *ojson.Object {
	whole := *p
	whole.Phases, whole.Turns, whole.Posts = list(p.Phases), list(p.Turns), list(p.Posts)
	whole.Waits, whole.Alarms, whole.Arrows = list(p.Waits), list(p.Alarms), list(p.Arrows)
	data, err := json.Marshal(&whole)
	if err != nil {
		return nil // a sum that is not a number; Sane keeps them out
	}
	o, _ := ojson.DecodeObject(data)
	return o
}

// list returns s, never nil.
func list[T any](s []T) []T { return append([]T{}, s...) }

// Read parses a picture that Object wrote, nil for anything else.
func Read(o *ojson.Object) *Picture {
	if o == nil {
		return nil
	}
	p := &Picture{}
	if json.Unmarshal(ojson.Compact(o), p) != nil {
		return nil
	}
	for i := range p.Turns {
		if len(p.Turns[i].Attempts) == 0 {
			return nil
		}
	}
	return p
}
