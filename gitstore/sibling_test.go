package gitstore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// sibling opens a directory as a sibling and reads its run.
func openSibling(t testing.TB, dir string) (*sibling.Clone, *SiblingRun, error) {
	t.Helper()
	x, err := sibling.Open(context.Background(), dir, &sibling.Trust{})
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { _ = x.Close() })
	run, err := ReadSibling(context.Background(), x)
	return x, run, err
}

func mustSibling(t testing.TB, dir string) *SiblingRun {
	t.Helper()
	_, run, err := openSibling(t, dir)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return run
}

// accepted returns the turns that were accepted according to history rows.
func (out *SiblingRun) accepted(t testing.TB) (turns []string) {
	t.Helper()
	for row, err := range out.Rows(context.Background(), wire.LedgerHistory, "") {
		if err != nil {
			t.Fatal(err)
		}
		if run.SaysAccepted(row) {
			turns = append(turns, row.String("turn_id"))
		}
	}
	return turns
}

func (out *SiblingRun) sound(t testing.TB, since object.OID, ops int) {
	t.Helper()
	v, err := out.Verify(context.Background(), since)
	if err != nil || len(v.Findings) > 0 || v.Checked != ops {
		t.Fatalf("%d operations, want %d: %v %+v", v.Checked, ops, v.Findings, err)
	}
}

// noGit makes every git process of this test a failure.
func noGit(t testing.TB) {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
}

func TestSiblingIsReadByItsFiles(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		d := scaffold(t, r.Dir)
		idle := mustSibling(t, d.Dir)
		if idle.Run != "" || idle.Op != "" || idle.State == nil {
			t.Fatalf("%+v", idle)
		}
		d.must(initOp(false))
		d.turns(2)
		mid := d.view().Op
		d.turns(4)
		check := func() {
			t.Helper()
			if r.RefFormat == "files" {
				path := os.Getenv("PATH")
				noGit(t)
				defer func() { _ = os.Setenv("PATH", path) }()
			}
			got := mustSibling(t, d.Dir)
			v := d.view0()
			if got.Op != v.Op || got.Run != v.Run || string(got.State) != d.read(string(wire.DocState)) || got.Ahead ||
				got.Refused != nil {
				t.Fatalf("%+v", got)
			}
			if turns := got.accepted(t); len(turns) != 6 || turns[0] != lastAccepted(t, d) {
				t.Fatal(turns)
			}
			got.sound(t, "", 13)
			got.sound(t, mid, 8)
			got.sound(t, got.Op, 0)
		}
		check()
		// Packed, as deltas, with packed refs.
		gitIn(t, d.Dir, "pack-refs", "--all")
		gitIn(t, d.Dir, "-c", "pack.depth=40", "repack", "-adfq", "--window=30")
		check()
	})
}

// view0 is view without a git process.
func (d *driver) view0() *View {
	d.t.Helper()
	c := d.store.readCache()
	return &View{Run: c.Run, Op: c.Op}
}

func lastAccepted(t testing.TB, d *driver) string {
	t.Helper()
	rows := strings.Split(strings.TrimSpace(d.read(wire.LedgerHistory.Path())), "\n")
	o, err := ojson.DecodeObject([]byte(rows[len(rows)-1]))
	if err != nil {
		t.Fatal(err)
	}
	return o.String("turn_id")
}

func TestSiblingInASubdirectory(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{Subdir: "services/api"})
	d := scaffold(t, r.Dir)
	d.must(initOp(false))
	if got := mustSibling(t, d.Dir); got.Op == "" {
		t.Fatalf("%+v", got)
	}
}

func TestSiblingWithoutARepository(t *testing.T) {
	from := started(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	got := mustSibling(t, dir)
	if got.Run == "" || got.Op != "" || len(got.accepted(t)) != 2 {
		t.Fatalf("%+v", got)
	}
}

// carryOn copies the working files of a project in which the run continued, without updating the record: this is
// what another implementation's commands leave.
func carryOn(t testing.TB, d *driver, further func(e *driver)) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(dir, os.DirFS(d.Dir)); err != nil {
		t.Fatal(err)
	}
	e := openDriver(t, dir)
	e.n = d.n + 100
	further(e)
	for _, name := range []string{".agentxchain", "TALK.md"} {
		if err := os.RemoveAll(d.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(d.path(".agentxchain"), os.DirFS(e.path(".agentxchain"))); err != nil {
		t.Fatal(err)
	}
	d.write("TALK.md", e.read("TALK.md"))
}

func TestSiblingCarriedOnByAnother(t *testing.T) {
	d := started(t)
	carryOn(t, d, func(e *driver) { e.must(e.acceptOp); e.turns(2) })
	got := mustSibling(t, d.Dir)
	if !got.Ahead || got.Refused != nil || len(got.accepted(t)) != 5 ||
		string(got.State) != d.read(string(wire.DocState)) {
		t.Fatalf("%+v", got)
	}
	got.sound(t, "", 6)
	// Our next command records it, and then the record agrees.
	d.must(assignOp)
	got = mustSibling(t, d.Dir)
	if got.Ahead || len(got.accepted(t)) != 5 {
		t.Fatalf("%+v", got)
	}
	got.sound(t, "", 8)
}

func TestSiblingWithLateFiles(t *testing.T) {
	d := started(t)
	before := filepath.Join(t.TempDir(), "before")
	if err := os.CopyFS(before, os.DirFS(d.path(".agentxchain"))); err != nil {
		t.Fatal(err)
	}
	d.must(d.acceptOp)
	want := d.read(string(wire.DocState))
	if err := os.RemoveAll(d.path(".agentxchain")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(d.path(".agentxchain"), os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	got := mustSibling(t, d.Dir)
	if got.Ahead || got.Refused != nil || string(got.State) != want || len(got.accepted(t)) != 3 {
		t.Fatalf("%+v", got)
	}
}

// forgedRow returns a history row that claims the acceptance of a turn.
func forgedRow(run, turn string) string {
	return string(ojson.Compact(
		ojson.NewObject("turn_id", turn, "run_id", run, "role", "qa", "status", "completed", "summary", "forged",
			"decisions", []any{}, "files_changed", []any{}, "accepted_at", "2026-01-02T04:04:05.000Z"))) + "\n"
}

func TestSiblingForgedAcceptance(t *testing.T) {
	history, events := wire.LedgerHistory.Path(), wire.LedgerEvents.Path()
	cases := map[string]struct {
		forge   func(d *driver, run, turn string)
		refused bool
	}{
		"row alone": {func(d *driver, run, turn string) { d.appendTo(history, forgedRow(run, turn)) }, false},
		"row and state": {func(d *driver, run, turn string) {
			d.appendTo(history, forgedRow(run, turn))
			d.editState(func(o *ojson.Object) { o.Set("active_turns", ojson.NewObject()) })
		}, true},
		"row and another state": {func(d *driver, run, turn string) {
			d.appendTo(history, forgedRow(run, turn))
			d.editState(func(o *ojson.Object) { o.Set("updated_at", "2030-01-01T00:00:00.000Z") })
		}, true},
		"row, state and an event of something else": {func(d *driver, run, turn string) {
			d.appendTo(history, forgedRow(run, turn))
			d.appendTo(events, `{"event_id":"evt_1","event_type":"turn_checkpointed","run_id":"`+run+
				`","turn":{"turn_id":"`+turn+`"}}`+"\n")
			d.editState(func(o *ojson.Object) { o.Set("active_turns", ojson.NewObject()) })
		}, true},
		"rewritten history": {func(d *driver, run, turn string) {
			d.editRow(wire.LedgerHistory, 1, func(o *ojson.Object) { o.Set("turn_id", turn) })
		}, false},
		"state without a row": {func(d *driver, run, turn string) {
			d.editState(func(o *ojson.Object) { o.Set("active_turns", ojson.NewObject()) })
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := started(t)
			v := d.view()
			turn, state := v.State.OnlyTurn().TurnID, d.read(string(wire.DocState))
			c.forge(d, v.Run, turn)
			got := mustSibling(t, d.Dir)
			if got.Ahead || (got.Refused != nil) != c.refused || string(got.State) != state {
				t.Fatalf("%+v", got)
			}
			if turns := got.accepted(t); len(turns) != 2 || slices.Contains(turns, turn) {
				t.Fatal(turns)
			}
		})
	}
}

// forgeCommit puts a commit on a run's ref whose tree differs from the tip's in the given entries.
func forgeCommit(t testing.TB, d *driver, run, op string, edit func(e *record.Edit)) {
	t.Helper()
	r := d.store.reader(context.Background())
	tip, err := chain.Tip(context.Background(), d.store.repo, run)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Commit(tip)
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Edit(c.Tree)
	if err != nil {
		t.Fatal(err)
	}
	edit(e)
	c.Parents, c.Tree = []object.OID{tip}, e.Finish()
	state, _, err := r.File(c.Tree, record.FileState)
	if err != nil {
		for _, o := range e.Objects {
			if err := d.store.objects.Write(context.Background(), []object.Object{o}); err != nil {
				t.Fatal(err)
			}
		}
		if state, _, err = r.File(c.Tree, record.FileState); err != nil {
			t.Fatal(err)
		}
	}
	c.Message = record.Message("forged", record.TrailerRun, run, record.TrailerOp, op, record.TrailerState,
		wire.Digest(state))
	data, err := object.EncodeCommit(d.store.repo.ObjectFormat, c)
	if err != nil {
		t.Fatal(err)
	}
	oid := e.Queue(object.KindCommit, data)
	if err := d.store.objects.Write(context.Background(), e.Objects); err != nil {
		t.Fatal(err)
	}
	gitIn(t, d.Dir, "update-ref", git.RunRefPrefix+run, string(oid))
}

func TestSiblingForgedRecord(t *testing.T) {
	forgedHistory := func(t *testing.T, d *driver, e *record.Edit, runID, turn string) {
		old, err := e.Reader.Ledger(mustTree(t, e.Reader, runID, d), wire.LedgerHistory)
		if err != nil {
			t.Fatal(err)
		}
		hi, lo := record.Slot(0)
		if err := e.Put(record.LedgerDir(wire.LedgerHistory)+"/"+hi+"/"+lo,
			append(bytes.Clone(old), forgedRow(runID, turn)...)); err != nil {
			t.Fatal(err)
		}
		st, perr := run.DecodeState([]byte(d.read(string(wire.DocState))))
		if perr != nil {
			t.Fatal(perr)
		}
		o := ojson.Marshal(st)
		o.Set("active_turns", ojson.NewObject())
		if err := e.Put(record.FileState, ojson.Pretty(o)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("an acceptance that the rules do not yield", func(t *testing.T) {
		d := started(t)
		v := d.view()
		forgeCommit(t, d, v.Run, "accept_turn",
			func(e *record.Edit) { forgedHistory(t, d, e, v.Run, v.State.OnlyTurn().TurnID) })
		verdict, err := mustSibling(t, d.Dir).Verify(context.Background(), v.Op)
		if err != nil || len(verdict.Findings) == 0 {
			t.Fatalf("%v %+v", verdict.Findings, err)
		}
	})
	t.Run("passed off as the work of another implementation", func(t *testing.T) {
		d := started(t)
		v := d.view()
		forgeCommit(t, d, v.Run, protocol.OpExternal, func(e *record.Edit) {
			forgedHistory(t, d, e, v.Run, v.State.OnlyTurn().TurnID)
			doc, _ := (&protocol.Record{
				Rules:  protocol.RuleSet,
				Name:   protocol.OpExternal,
				Env:    d.env("x"),
				Detail: ojson.NewObject(),
			}).Encode()
			if err := e.Put(record.FileRecord, doc); err != nil {
				t.Fatal(err)
			}
		})
		verdict, err := mustSibling(t, d.Dir).Verify(context.Background(), v.Op)
		if err != nil || !slices.ContainsFunc(verdict.Findings,
			func(f proof.Finding) bool { return f.Code == record.CodeLedgerTampered }) {
			t.Fatalf("%v %+v", verdict.Findings, err)
		}
	})
	t.Run("a record that went back", func(t *testing.T) {
		d := started(t)
		v := d.view()
		gitIn(t, d.Dir, "update-ref", git.RunRefPrefix+v.Run, string(v.Op)+"~3")
		x, run, err := openSibling(t, d.Dir)
		if err != nil {
			t.Fatal(err)
		}
		_ = x
		verdict, err := run.Verify(context.Background(), v.Op)
		if err != nil || len(verdict.Findings) != 1 || verdict.Findings[0].Code != record.CodeChainBroken {
			t.Fatalf("%v %+v", verdict.Findings, err)
		}
	})
}

func mustTree(t testing.TB, r *record.Reader, run string, d *driver) object.OID {
	t.Helper()
	tip, err := chain.Tip(context.Background(), d.store.repo, run)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Commit(tip)
	if err != nil {
		t.Fatal(err)
	}
	return c.Tree
}
