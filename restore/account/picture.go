// The picture of the run, in every rendering.

package account

import (
	"iter"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// picture returns the run as it was when the artifact was made.
func (m *runModel) picture() *ojson.Object {
	rows := map[wire.Ledger][]*ojson.Object{
		wire.LedgerEvents:    m.events,
		wire.LedgerHistory:   m.history,
		wire.LedgerDecisions: m.ledger,
	}
	facts, _ := timeline.Facts(func(l wire.Ledger) iter.Seq2[*ojson.Object, error] {
		return func(yield func(*ojson.Object, error) bool) {
			for _, row := range rows[l] {
				if !yield(row, nil) {
					return
				}
			}
		}
	})
	opt := timeline.Options{Run: m.summary.String("run_id")}
	if m.opt.AllRuns {
		opt.Run = ""
	}
	if at, err := wire.ParseTime(m.a.Head.String("exported_at")); err == nil {
		opt.Now = at
	}
	p := timeline.Build(facts, opt)
	p.Live = false // it ends when the artifact was made
	return p.Object()
}

// pictureRows is how many rows are listed below the picture.
const pictureRows = 200

func pictureSection(r *ojson.Object) section {
	p := timeline.Read(r.Object("timeline"))
	if p == nil || len(p.Turns) == 0 {
		return section{}
	}
	return section{title: "The run in time", drawing: timeline.Draw(p)}
}

// pictureTable gives the picture's content to those who cannot see it.
func pictureTable(d *timeline.Drawing) *table {
	rows, _ := d.Rows(pictureRows)
	t := &table{head: timeline.Head()}
	for _, r := range rows {
		cells := make([]cell, len(r.Cells))
		for i, c := range r.Cells {
			cells[i] = plain(c)
		}
		if r.Bad {
			cells[4].tone = warn
		}
		t.rows = append(t.rows, cells)
	}
	return t
}
