package gitstore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"pgregory.net/rapid"
)

// TestLedgerModel drives random sequences of operations, crashes, changes of other tools and losses of the cache;
// every ledger must always equal a plain append-only file.
func TestLedgerModel(t *testing.T) {
	testrepo.Serving(t)
	t.Parallel()
	most := testrepo.Times(t.Name(), 4, 12)
	rapid.Check(t, func(rt *rapid.T) {
		d := freshRun.copy(t)
		defer func() { _ = d.store.Close(); _ = os.RemoveAll(d.Dir) }()
		model := make(map[wire.Ledger]string)
		sync := func() {
			for _, l := range wire.Ledgers() {
				if d.store.exists(l.Path()) {
					model[l] = d.read(l.Path())
				}
			}
		}
		sync()
		extend := func(tr *protocol.Transition) {
			for _, a := range tr.Appends {
				model[a.Ledger] += string(a.Data)
			}
		}
		steps := rapid.IntRange(1, most).Draw(rt, "steps")
		for range steps {
			switch rapid.SampledFrom([]string{"operate", "operate", "half", "external", "lose cache", "reopen"}).Draw(
				rt, "step") {
			case "operate":
				_, tr := d.next(rt)
				extend(tr)
			case "half":
				// The ref moves, and only some of the working files follow.
				d.interrupted = rapid.IntRange(0, 4).Draw(rt, "files written")
				_, tr := d.next(rt)
				d.interrupted = -1
				extend(tr)
			case "external":
				l := rapid.SampledFrom([]wire.Ledger{wire.LedgerEvents, wire.LedgerHistory, wire.LedgerHookAudit,
					wire.LedgerTalk}).Draw(rt, "ledger")
				line := `{"x":"` + strings.Repeat("y", rapid.SampledFrom([]int{0, 10, 5000, record.SegmentLimit - 9,
					record.SegmentLimit, 40000}).Draw(rt, "length")) + "\"}\n"
				tx, err := d.store.Begin(context.Background(), "settle", 0)
				if err != nil {
					rt.Fatal(err)
				}
				_ = tx.Close()
				d.appendTo(l.Path(), line)
				model[l] += line
			case "lose cache":
				if err := d.store.dropCache(); err != nil {
					rt.Fatal(err)
				}
			case "reopen":
				_ = d.store.Close()
				n := d.n
				d = openDriver(t, d.Dir)
				d.n = n
			}
		}
		tx, err := d.store.Begin(context.Background(), "end", 0)
		if err != nil {
			rt.Fatalf("%+v", err)
		}
		op, run := tx.View().Op, tx.View().Run
		_ = tx.Close()
		rec, err := d.store.OpenRun(context.Background(), run, op)
		if err != nil {
			rt.Fatal(err)
		}
		rf, err := rec.Files()
		if err != nil {
			rt.Fatal(err)
		}
		for l, want := range model {
			if got := d.read(l.Path()); got != want {
				rt.Errorf("%s: %d bytes, want %d", l.Path(), len(got), len(want))
			}
			if got := string(rf.Files[l.Path()]); got != want {
				rt.Errorf("%s on record: %d bytes, want %d", l.Path(), len(got), len(want))
			}
		}
		r, err := d.store.Fsck(context.Background(), proof.Options{Replay: true})
		if err != nil || !r.Clean() {
			rt.Fatalf("%v %s", err, checked{r})
		}
	})
}

// next runs any operation the run is ready for. When interrupted is set, the files are then reset as if the process
// had died after writing that many of them, in write order.
func (d *driver) next(rt *rapid.T) (*Committed, *protocol.Transition) {
	op := assignOp
	v, err := d.store.View(context.Background())
	if err != nil {
		rt.Fatalf("%+v", err)
	}
	if v.State.ActiveTurns.Len() > 0 {
		op = d.acceptOp
	}
	var order []string
	for _, l := range wire.Ledgers() {
		order = append(order, l.Path())
	}
	for _, doc := range wire.Documents() {
		order = append(order, string(doc))
	}
	// First complete what an earlier interruption left, as Begin would.
	tx, err := d.store.Begin(context.Background(), "settle", 0)
	if err != nil {
		rt.Fatalf("%+v", err)
	}
	_ = tx.Close()
	old := make(map[string][]byte)
	for _, name := range order {
		if data, err := os.ReadFile(d.path(name)); err == nil {
			old[name] = data
		}
	}
	cache := d.store.readCache()
	out, tr, err := d.try(op)
	if err != nil {
		rt.Fatalf("%+v", err)
	}
	if d.interrupted < 0 {
		return out, tr
	}
	kept := 0
	for _, name := range order {
		now, err := os.ReadFile(d.path(name))
		if err != nil || bytes.Equal(now, old[name]) {
			continue
		}
		if kept++; kept <= d.interrupted {
			continue
		}
		if data, ok := old[name]; ok {
			d.write(name, string(data))
		} else if err := os.Remove(d.path(name)); err != nil {
			rt.Fatal(err)
		}
	}
	if err := d.store.writeCache(cache); err != nil {
		rt.Fatal(err)
	}
	return out, tr
}

func FuzzCache(f *testing.F) {
	c := &statCache{
		Run:   "run_1",
		Op:    object.OID(strings.Repeat("a", 40)),
		Root:  object.OID(strings.Repeat("b", 40)),
		Index: []byte("{}\n"),
		Ledgers: map[wire.Ledger]record.LedgerMark{wire.LedgerHistory: {
			Size:     9,
			Segments: 1,
			Tail:     9,
			Stat:     git.Stat{Size: 9, MTime: 8, CTime: 7, Inode: 6},
		}},
		Trees: map[object.OID][]byte{object.OID(strings.Repeat("b", 40)): []byte("tree")},
	}
	f.Add(c.encode(), true)
	f.Add(c.encode()[:40], true)
	f.Add((&entering{
		Run:     "r",
		Docs:    map[wire.Document]object.OID{wire.DocState: "x"},
		Ledgers: map[wire.Ledger]int64{wire.LedgerTalk: 3},
	}).encode(), false)
	f.Add((&openBundle{Run: "r", Turn: "turn_1", Files: []string{"a", "b/c"}}).encode(), false)
	f.Add(private.Seal(nil)[:5], false)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = private.Seal(data)
		}
		if c, err := decodeCache(data); err == nil {
			again, err := decodeCache(c.encode())
			if err != nil || !bytes.Equal(again.encode(), c.encode()) {
				t.Fatal("a cache does not survive being written")
			}
		}
		if n, err := decodeOpenBundle(data); err == nil {
			if again, err := decodeOpenBundle(n.encode()); err != nil || !bytes.Equal(again.encode(), n.encode()) {
				t.Fatal("a note of an open bundle does not survive being written")
			}
		}
		if n, err := decodeEntering(data); err == nil {
			if _, err := decodeEntering(n.encode()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzMessage checks that no value can forge a trailer.
func FuzzMessage(f *testing.F) {
	f.Add("subject", "turn_1")
	f.Add("a\nAgentxchain-Run: x", "b\r\nAgentxchain-Op: y")
	f.Fuzz(func(t *testing.T, subject, turn string) {
		var op chain.OpInfo
		op.ReadMessage(record.Message(subject, record.TrailerTurn, turn, record.TrailerRun, "run_1"))
		if op.Run != "run_1" || op.Name != "" || op.Turn != text.OneLine(turn) {
			t.Fatalf("%+v", op)
		}
	})
}

func TestEnteringNoteOfOtherRunIsIgnored(t *testing.T) {
	d := started(t)
	if err := d.store.writeEntering(&entering{Run: "run_elsewhere", Op: "x"}); err != nil {
		t.Fatal(err)
	}
	if v := d.view(); len(v.Notices) > 0 {
		t.Error(v.Notices)
	}
	if err := os.WriteFile(filepath.Join(private.Dir(d.store.repo), "entering"), []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	d.must(d.acceptOp)
	d.clean()
}
