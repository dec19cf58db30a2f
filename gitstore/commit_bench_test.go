package gitstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// BenchmarkCommit measures one accepted turn (Begin, Apply, Commit) in a fresh store, with short and long ledgers.
func BenchmarkCommit(b *testing.B) {
	for _, rows := range []int{10, 10000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			d := newDriver(b)
			d.must(initOp(false))
			d.turns(1)
			d.grow(rows)
			d.turns(1)
			for b.Loop() {
				b.StopTimer()
				d.must(assignOp)
				d.stage(d.view())
				s, err := Open(context.Background(), d.Dir, testOptions())
				if err != nil {
					b.Fatal(err)
				}
				e := &driver{t: b, store: s, Dir: d.Dir, n: d.n}
				b.StartTimer()
				e.must(e.acceptOp)
				b.StopTimer()
				_ = s.Close()
				d.n = e.n
				b.StartTimer()
			}
		})
	}
}

// grow lengthens the ledgers with copies of their rows, as another tool would, and has the store record it.
func (d *driver) grow(rows int) {
	for _, l := range []wire.Ledger{wire.LedgerHistory, wire.LedgerDecisions, wire.LedgerEvents, wire.LedgerTalk} {
		last, _ := d.store.TailRows(context.Background(), l, 1, nil)
		line := []byte("- more talk\n")
		if len(last) > 0 {
			line = append(last[0].Raw, '\n')
		}
		data := []byte(d.read(l.Path()))
		for range rows {
			data = append(data, line...)
		}
		d.write(l.Path(), string(data))
	}
	tx, err := d.store.Begin(context.Background(), "grow", time.Second)
	if err != nil {
		d.t.Fatal(err)
	}
	_ = tx.Close()
}
