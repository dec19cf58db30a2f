package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// checkpointOp marks the newest history row.
func (d *driver) checkpointOp(v *View) protocol.Operation {
	rows, err := d.store.TailRows(context.Background(), wire.LedgerHistory, 1, nil)
	if err != nil || len(rows) != 1 {
		d.t.Fatal(rows, err)
	}
	head := strings.TrimSpace(gitIn(d.t, d.Dir, "rev-parse", "HEAD"))
	return &commits.Checkpoint{
		TurnID: v.Index.LastRow.String("turn_id"),
		Row:    evidence.NewBlob(rows[0].Raw),
		Commit: head,
	}
}

// A checkpoint changes the end of history.jsonl and nothing before it.
func TestAmendInPlace(t *testing.T) {
	d := oneTurn.copy(t)
	d.turns(2)
	name := wire.LedgerHistory.Path()
	before, inode := d.read(name), mustStat(t, d.path(name))
	d.must(d.checkpointOp)
	after := d.read(name)
	if !os.SameFile(inode, mustStat(t, d.path(name))) {
		t.Error("the ledger was replaced as a whole")
	}
	last := strings.LastIndexByte(strings.TrimSuffix(before, "\n"), '\n') + 1
	if before[:last] != after[:last] || !strings.Contains(after[last:], `"checkpoint_sha"`) {
		t.Errorf("history is now\n%s", after)
	}
	d.clean()
	d.turns(1)
	d.clean()
}

// The next command completes files from a crash in the middle of it.
func TestAmendInPlaceTorn(t *testing.T) {
	name := wire.LedgerHistory.Path()
	d := oneTurn.copy(t)
	d.turns(1)
	kept := t.TempDir()
	governed := []string{".agentxchain", ".git/agentxchain"}
	save := func(from, to string) {
		t.Helper()
		for _, dir := range governed {
			if err := os.RemoveAll(filepath.Join(to, dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(to, dir), os.DirFS(filepath.Join(from, dir))); err != nil {
				t.Fatal(err)
			}
		}
	}
	save(d.Dir, kept)
	old := d.read(name)
	d.must(d.checkpointOp)
	full := d.read(name)
	if len(full) <= len(old) {
		t.Fatal("the checkpoint did not lengthen the row")
	}
	from := commonPrefix([]byte(old), []byte(full))
	torns := map[string]string{
		"nothing written":    old,
		"first bytes":        full[:from+1] + old[from+1:],
		"all but the growth": full[:len(old)],
		"growth only":        old + full[len(old):],
		"growth of zeros":    full[:len(old)] + strings.Repeat("\x00", len(full)-len(old)),
		"zeros":              full[:from] + strings.Repeat("\x00", len(full)-from),
		"zeros at the end":   full[:len(full)-2] + "\x00\x00",
		"all":                full,
	}
	for what, data := range torns {
		for _, cached := range []bool{true, false} {
			save(kept, d.Dir)
			if !cached {
				if err := os.RemoveAll(d.path(".git/agentxchain")); err != nil {
					t.Fatal(err)
				}
			}
			d.write(name, data)
			if v := d.view(); !v.Index.LastRow.Has("checkpoint_sha") {
				t.Errorf("%s: the view is not of the recorded run", what)
			}
			tx, err := d.store.Begin(context.Background(), "after", time.Second)
			if err != nil {
				t.Fatalf("%s, cached %v: %+v", what, cached, err)
			}
			_ = tx.Close()
			if d.read(name) != full {
				t.Errorf("%s, cached %v: the ledger was not completed", what, cached)
			}
			d.clean()
		}
	}
	// Anything else still counts as a change by another tool.
	save(kept, d.Dir)
	d.write(name, full[:from]+"X"+full[from+1:])
	if _, err := d.store.View(context.Background()); fail.CodeOf(err) != record.CodeLedgerTampered {
		t.Errorf("a changed row: %v", err)
	}
}

func TestAmendTailFarBack(t *testing.T) {
	d := oneTurn.copy(t)
	name := wire.LedgerHistory.Path()
	row := func(i int) string {
		return `{"n":` + strings.Repeat("1", i%5+1) + `,"x":"` + strings.Repeat("y", 900) + "\"}\n"
	}
	var b strings.Builder
	b.WriteString("{\"first\":1}\n")
	for i := range 300 {
		b.WriteString(row(i))
	}
	b.WriteString("{\"last\":1}\n")
	d.write(name, b.String())
	size := int64(b.Len())
	amend := func(old, now string) []ledger.Amend {
		return []ledger.Amend{{Ledger: wire.LedgerHistory, Old: []byte(old), New: []byte(now)}}
	}
	w, ok, err := d.store.amendTail(wire.LedgerHistory, size, amend(`{"last":1}`, `{"last":1,"c":2}`),
		[]byte("{\"z\":1}\n"))
	if err != nil || !ok || string(w.Data) != ",\"c\":2}\n{\"z\":1}\n" || string(w.Old) != "}\n" ||
		w.Offset != size-2 {
		t.Errorf("%v %v %+v %q", ok, err, w, w.Data)
	}
	if err := d.store.work.WriteLedger(w); err != nil ||
		d.read(name) != strings.TrimSuffix(b.String(), "}\n")+string(w.Data) {
		t.Error(err)
	}
	if err := d.store.work.WriteLedger(w); err == nil {
		t.Error("written over a file of another length")
	}
	d.write(name, b.String())
	for what, a := range map[string][]ledger.Amend{
		"beyond the window": amend(`{"first":1}`, `{"first":1,"c":2}`),
		"not there":         amend(`{"none":1}`, `{"none":1,"c":2}`),
		"shorter":           amend(`{"last":1}`, `{}`),
	} {
		if _, ok, err := d.store.amendTail(wire.LedgerHistory, size, a, nil); ok || err != nil {
			t.Errorf("%s: %v %v", what, ok, err)
		}
	}
}

func mustStat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	fi, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return fi
}
