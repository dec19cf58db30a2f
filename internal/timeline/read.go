// Reading ledgers, and pictures that were written.

package timeline

import (
	"encoding/json"
	"iter"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Facts reads the three ledgers the picture is made of, in the order Build wants.
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

// Object is the picture as JSON.
func (p *Picture) Object() *ojson.Object {
	data, err := json.Marshal(p)
	if err != nil {
		return nil // a sum that is no number; Sane keeps them out
	}
	o, _ := ojson.DecodeObject(data)
	return o
}

// Read is the picture Object wrote, nil for anything else.
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
