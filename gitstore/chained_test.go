// Many runs in sequence, for tests and measurements of how costs grow with their number.

package gitstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// chaining records runs straight into the repository, without working files: a thousand take a second.
type chaining struct {
	d    *driver
	cfg  *config.Config
	r    *record.Reader
	seen map[object.OID][]byte // blobs not written yet

	n       int
	state   []byte
	session []byte
	index   *run.Index
	at      *chain.RecordedRun // the newest operation
	marks   map[wire.Ledger]record.LedgerMark

	queued []object.Object
	tips   []git.RefUpdate
}

// chained records n runs of three operations each, one after another, in a project whose ledgers already held
// several segments. It returns their refs.
func (d *driver) chained(n int) []git.RefUpdate {
	d.t.Helper()
	cfg, _, err := config.Decode([]byte(testConfig))
	if err != nil {
		d.t.Fatal(err)
	}
	c := &chaining{
		d:     d,
		cfg:   cfg,
		r:     d.store.reader(context.Background()),
		seen:  make(map[object.OID][]byte),
		state: run.FreshState(cfg, "").Encode(),
		marks: make(map[wire.Ledger]record.LedgerMark),
	}
	for i := range n {
		c.begin(i > 0)
		c.op(&protocol.AssignTurn{
			Role:     "qa",
			Baseline: &run.Baseline{Kind: "git_worktree", Clean: true, CapturedAt: "2026-01-02T03:04:05.000Z"},
		})
		c.op(&protocol.AbandonRun{Reason: "one of many"})
		c.tips = append(c.tips, git.RefUpdate{Name: git.RunRefPrefix + c.at.Run, New: c.at.Op})
		if i%100 == 99 {
			c.write()
		}
	}
	c.write()
	var in strings.Builder
	for _, u := range c.tips {
		in.WriteString("create " + u.Name + " " + string(u.New) + "\n")
	}
	if _, err := d.store.repo.Git.Run(context.Background(), []byte(in.String()), "update-ref", "--stdin"); err != nil {
		d.t.Fatal(err)
	}
	gitIn(d.t, d.Dir, "pack-refs", "--all")
	return c.tips
}

// write puts the objects into the repository.
func (c *chaining) write() {
	if err := c.d.store.objects.Write(context.Background(), c.queued); err != nil {
		c.d.t.Fatal(err)
	}
	c.queued = nil
	clear(c.seen)
}

func (c *chaining) env() protocol.Env {
	c.n++
	return protocol.Env{
		Now:   tick.Add(time.Duration(c.n) * time.Second),
		Seed:  hex.EncodeToString(fmt.Appendf(nil, "%016d", c.n)),
		Actor: evidence.Actor{Name: "Ada", Email: "ada@example.org", Terminal: true},
	}
}

func (c *chaining) begin(again bool) {
	c.session, c.index = nil, &run.Index{}
	if c.at != nil {
		c.index.Run = c.at.Run
	}
	c.op(&protocol.InitRun{Prior: evidence.NewBlob(c.state), Restart: again})
}

// op applies an operation and queues its record.
func (c *chaining) op(op protocol.Operation) {
	t := c.d.t
	t.Helper()
	env := c.env()
	state, perr := run.DecodeState(c.state)
	if perr != nil {
		t.Fatal(perr)
	}
	snap := &protocol.Snapshot{Config: c.cfg, Index: c.index}
	snap.State, _ = run.RepairState(state, c.cfg)
	if c.session != nil {
		snap.Session, _ = ojson.DecodeObject(c.session)
	}
	tr, refusal := protocol.Apply(snap, op, env)
	if refusal != nil {
		t.Fatal(refusal)
	}
	d := &record.Derivation{Marks: c.marks, Tail: func(_ wire.Ledger, oid object.OID) []byte { return c.seen[oid] }}
	if c.at != nil {
		d.Root = c.at.Root
	}
	var err error
	if d.Edit, err = c.r.Edit(d.Root); err != nil {
		t.Fatal(err)
	}
	if c.at == nil {
		c.past(d)
	}
	if _, ok := op.(*protocol.InitRun); ok {
		if err := d.Edit.Remove(record.DocumentFile(wire.DocSession)); err != nil {
			t.Fatal(err)
		}
	}
	plan := commitPlan{run: tr.State.Run(), record: protocol.NewRecord(op, env), subject: tr.Subject, turn: tr.Turn,
		role: tr.Role, state: tr.State.Encode(), drops: tr.DropTurns, unstage: tr.Unstage}
	switch {
	case c.at != nil && c.at.Run == plan.run:
		plan.parent = c.at
	case c.at != nil:
		plan.previous = c.at.Op
	}
	if err := d.Apply(tr, plan.state); err != nil {
		t.Fatal(err)
	}
	if err := d.Edit.Put(record.FileConfig, []byte(testConfig)); err != nil {
		t.Fatal(err)
	}
	at, _, err := c.d.store.buildCommit(d.Edit, plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range d.Edit.Objects {
		if o.Kind == object.KindBlob {
			c.seen[o.OID] = o.Data
		}
	}
	c.queued = append(c.queued, d.Edit.Objects...)
	c.at, c.state, c.index, c.marks = at, plan.state, tr.Index, d.Marks
	if data, ok := tr.Documents[wire.DocSession]; ok {
		c.session = data
	}
	c.r.KeepRightEdge(at.Root)
}

// past adds ledger rows as if other tools had written them before the first run.
func (c *chaining) past(d *record.Derivation) {
	row := []byte(`{"event_type":"note","text":"` + strings.Repeat("x", 1000) + "\"}\n")
	for _, l := range []wire.Ledger{wire.LedgerHistory, wire.LedgerEvents} {
		rows := &protocol.Transition{Appends: []ledger.Append{{Ledger: l, Data: bytes.Repeat(row, 100)}}}
		if err := d.Ledger(rows, l); err != nil {
			c.d.t.Fatal(err)
		}
	}
}

// BenchmarkFsckRuns measures a check of all runs, by the number of runs.
func BenchmarkFsckRuns(b *testing.B) {
	for _, n := range []int{300, 1000} {
		for _, replay := range []bool{false, true} {
			b.Run(fmt.Sprintf("runs=%d,replay=%v", n, replay), func(b *testing.B) {
				d := newDriver(b)
				d.chained(n)
				for b.Loop() {
					r, err := d.store.Fsck(context.Background(), proof.Options{Run: "*", Replay: replay})
					if err != nil || !r.Clean() || r.Runs != n || r.Ops != 3*n {
						b.Fatalf("%v %s", err, checked{r})
					}
				}
			})
		}
	}
}
