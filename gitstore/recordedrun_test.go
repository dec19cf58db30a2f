package gitstore

import (
	"context"
	"os"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// TestOpenRun checks that a recorded run reads as its working files did, at any of its operations and after another
// run has replaced it in the work tree.
func TestOpenRun(t *testing.T) {
	d := newDriver(t)
	ctx := context.Background()
	if _, err := d.store.OpenRun(ctx, "", ""); fail.CodeOf(err) != chain.CodeNoRun {
		t.Fatalf("%v", err)
	}
	d.must(initOp(false))
	d.turns(3)
	run := d.view().Run
	early, err := d.store.OpenRun(ctx, "", "")
	if err != nil {
		t.Fatal(err)
	}
	d.turns(2)
	late, err := d.store.OpenRun(ctx, run, "")
	if err != nil {
		t.Fatal(err)
	}
	if early.Run != run || late.Run != run || early.Op == late.Op {
		t.Errorf("%+v %+v", early, late)
	}
	if st, err := late.State(); err != nil || st.RunID == nil || *st.RunID != run {
		t.Errorf("%+v %v", st, err)
	}
	if state, _ := late.StateBytes(); string(state) != d.read(string(wire.DocState)) {
		t.Error("the state is another")
	}
	if cfg, err := late.Config(); err != nil || len(cfg.Roles.Keys()) == 0 {
		t.Errorf("%+v %v", cfg, err)
	}
	if rec, err := late.Record(); err != nil || rec.Len() == 0 {
		t.Errorf("%v %v", rec, err)
	}
	for _, l := range wire.Ledgers() {
		var all string
		var rows []string
		for row, err := range late.Rows(l) {
			if err != nil {
				t.Fatal(err)
			}
			all += string(row.Raw) + "\n"
			rows = append(rows, string(row.Raw))
		}
		working, _ := os.ReadFile(d.path(l.Path()))
		if l.JSONL() && all != string(working) {
			t.Errorf("%s reads as another", l)
		}
		n := 0
		for _, err := range early.Rows(l) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		more, ok, err := late.Appended(l, early)
		if err != nil || !ok || n+len(more) != len(rows) {
			t.Errorf("%s: %d rows, then %d, %d in all (%v, %v)", l, n, len(more), len(rows), ok, err)
		}
	}
	if data, ok, err := late.File(string(wire.DocState)); err != nil || !ok || len(data) == 0 {
		t.Errorf("%v %v", ok, err)
	}
	for _, none := range []string{"", "/", "x", ".agentxchain", ".agentxchain/no", ".agentxchain/../state.json",
		wire.DispatchDir + "/none/x", wire.DispatchDir} {
		if data, ok, err := late.File(none); err != nil || ok {
			t.Errorf("%q: %q %v %v", none, data, ok, err)
		}
	}
	if _, err := d.store.OpenRun(ctx, "run_of_nobody", ""); fail.CodeOf(err) != chain.CodeNoRun {
		t.Errorf("%v", err)
	}
	if _, err := d.store.OpenRun(ctx, "../x", ""); err == nil {
		t.Error("a name that leaves its folder was taken")
	}
	if tip, err := chain.Tip(ctx, d.store.repo, run); err != nil || tip != late.Op {
		t.Errorf("%s %v", tip, err)
	}
}
