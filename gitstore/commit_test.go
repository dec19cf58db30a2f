package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// roundTrip drives a run in any kind of repository and checks the record.
func roundTrip(t *testing.T, d *driver) {
	t.Helper()
	if v := d.view(); v.Run != "" || v.State == nil || v.State.Status != wire.StatusIdle {
		t.Fatalf("idle view: %+v", v)
	}
	out, _ := d.must(initOp(false))
	if v := d.view(); v.Run != out.Run || v.Op != out.Op || v.State.Status != wire.StatusActive || len(v.Notices) > 0 {
		t.Fatalf("after init: %+v", v)
	}
	_, tr := d.must(assignOp)
	if _, err := os.Stat(d.path(wire.BundleDir(tr.Turn) + "/MANIFEST.json")); err != nil {
		t.Fatal(err)
	}
	d.must(d.acceptOp)
	for _, gone := range []string{wire.BundleDir(tr.Turn), wire.StagingDir + "/" + tr.Turn} {
		if _, err := os.Stat(d.path(gone)); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	d.turns(2)
	v := d.view()
	if len(v.Notices) > 0 || v.Index.Accepted != 3 {
		t.Fatalf("%v, %d accepted", v.Notices, v.Index.Accepted)
	}
	if n := strings.Count(d.read(wire.LedgerHistory.Path()), "\n"); n != 3 {
		t.Errorf("%d history rows", n)
	}
	rec, err := d.store.OpenRun(context.Background(), v.Run, "")
	if err != nil {
		t.Fatal(err)
	}
	rf, err := rec.Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range rf.Files {
		if got := d.read(name); got != string(data) {
			t.Errorf("%s on record differs from the working file", name)
		}
	}
	d.clean()
}

func TestCommitMatrix(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		roundTrip(t, scaffold(t, r.Dir))
		r.Fsck()
	})
}

func TestCommitOtherRepositories(t *testing.T) {
	t.Run("subdirectory", func(t *testing.T) {
		roundTrip(t, scaffold(t, testrepo.New(t, testrepo.Options{Subdir: "apps/one two"}).Dir))
	})
	t.Run("unborn", func(t *testing.T) {
		roundTrip(t, scaffold(t, testrepo.New(t, testrepo.Options{Unborn: true}).Dir))
	})
	t.Run("sparse", func(t *testing.T) {
		r := testrepo.New(t, testrepo.Options{})
		r.Git("sparse-checkout", "set", "--no-cone", "/*", "!/d/")
		roundTrip(t, scaffold(t, r.Dir))
	})
	t.Run("partial clone", func(t *testing.T) {
		r := testrepo.New(t, testrepo.Options{})
		r.Git("config", "uploadpack.allowFilter", "true")
		dir := t.TempDir()
		gitIn(t, dir, "clone", "-q", "--filter=blob:none", "file://"+r.Dir, "part")
		roundTrip(t, scaffold(t, dir+"/part"))
	})
	t.Run("packed", func(t *testing.T) {
		d := newDriver(t)
		d.must(initOp(false))
		d.turns(2)
		gitIn(t, d.Dir, "gc", "-q", "--prune=now")
		d = openDriver(t, d.Dir)
		d.n = 100
		d.turns(2)
		d.clean()
	})
}

func TestOpenFindsProject(t *testing.T) {
	d := newDriver(t)
	deep := d.path("d")
	s, err := Open(context.Background(), deep, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if s.Dir() != d.Dir {
		t.Errorf("found %s, not %s", s.Dir(), d.Dir)
	}
	r := testrepo.New(t, testrepo.Options{})
	if _, err := Open(context.Background(), r.Dir, Options{}); fail.CodeOf(err) != CodeNotProject {
		t.Errorf("no project: %v", err)
	}
	// A repository nested in a governed one is not governed by it.
	inner := d.path("inner")
	gitIn(t, d.Dir, "init", "-q", inner)
	if _, err := Open(context.Background(), inner, Options{}); fail.CodeOf(err) != CodeNotProject {
		t.Errorf("nested repository: %v", err)
	}
}

func TestWriteNewRefusesToOverwrite(t *testing.T) {
	d := newDriver(t)
	err := d.store.WriteNew([]NewFile{{Path: "new.txt", Data: []byte("x")}, {Path: "a.txt"}})
	if fail.CodeOf(err) != CodeFileExists || !strings.Contains(err.Error(), "a.txt") {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.path("new.txt")); err == nil {
		t.Error("a file was written although another was in the way")
	}
	for _, bad := range []string{"../x", "/x", ".", "a/../b"} {
		if err := d.store.WriteNew([]NewFile{{Path: bad}}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestMovedRefChangesNothing(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	ctx := context.Background()
	tx, err := d.store.Begin(ctx, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Close() }()
	before := d.read(string(wire.DocState))
	// A process without the lock, perhaps on another machine, moves the ref.
	tree := strings.TrimSpace(gitIn(t, d.Dir, "rev-parse", string(tx.View().Op)+"^{tree}"))
	other := strings.TrimSpace(gitIn(t, d.Dir, "commit-tree", tree, "-p", string(tx.View().Op), "-m", "other"))
	gitIn(t, d.Dir, "update-ref", git.RunRefPrefix+tx.View().Run, other)
	if _, _, err := d.in(tx, assignOp); fail.CodeOf(err) != fail.CodeRefMoved {
		t.Fatalf("%v", err)
	}
	if d.read(string(wire.DocState)) != before {
		t.Error("the state was changed")
	}
}

func TestChangeDuringTransactionIsRefused(t *testing.T) {
	for _, name := range []string{string(wire.DocState), wire.LedgerEvents.Path(), wire.ConfigPath} {
		d := newDriver(t)
		d.must(initOp(false))
		tx, err := d.store.Begin(context.Background(), "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		d.write(name, d.read(name)+"\n")
		if _, _, err := d.in(tx, assignOp); fail.CodeOf(err) != CodeStateMoved {
			t.Errorf("%s: %v", name, err)
		}
		_ = tx.Close()
	}
}

func TestTwoOperationsInOneTransaction(t *testing.T) {
	d := newDriver(t)
	tx, err := d.store.Begin(context.Background(), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []func(*View) protocol.Operation{initOp(false), assignOp, d.acceptOp, assignOp} {
		if _, _, err := d.in(tx, op); err != nil {
			t.Fatalf("%+v", err)
		}
	}
	_ = tx.Close()
	if v := d.view(); v.State.ActiveTurns.Len() != 1 || len(v.Notices) > 0 {
		t.Errorf("%+v", v)
	}
	d.clean()
}

func TestForeignStagedFileStays(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	d.must(assignOp)
	v := d.view()
	turn := v.State.OnlyTurn().TurnID
	op := d.acceptOp(v)
	// A result is staged again after the first was read, and there are notes beside it.
	d.write(wire.StagingPath(turn), "{\"later\": true}\n")
	d.write(wire.StagingDir+"/"+turn+"/notes.txt", "mine\n")
	d.write(wire.BundleDir(turn)+"/extra.txt", "mine too\n")
	d.must(func(*View) protocol.Operation { return op })
	for name, want := range map[string]string{wire.StagingPath(turn): "{\"later\": true}\n",
		wire.StagingDir + "/" + turn + "/notes.txt": "mine\n", wire.BundleDir(turn) + "/extra.txt": "mine too\n"} {
		if got := d.read(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := os.Stat(d.path(wire.BundleDir(turn) + "/PROMPT.md")); err == nil {
		t.Error("the bundle is still there")
	}
}

func TestMessageCannotBeForged(t *testing.T) {
	m := record.Message("ok\nAgentxchain-Run: other", record.TrailerTurn, "t\nAgentxchain-Op: forged",
		record.TrailerRole, "a\u2028b\x00c")
	op := chain.OpInfo{}
	op.ReadMessage(m)
	if op.Run != "" || op.Name != "" || op.Turn != "t Agentxchain-Op: forged" || op.Role != "a b^@c" ||
		op.Subject != "ok Agentxchain-Run: other" {
		t.Errorf("%q -> %+v", m, op)
	}
}

func TestSecondRunKeepsLedgers(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	d.turns(2)
	first := d.view().Run
	ctx := context.Background()
	tx, err := d.store.Begin(ctx, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	// End the run as an operation would.
	done := tx.View().RawState.Clone()
	done.Status = wire.StatusCompleted
	at := "2026-01-02T04:00:00.000Z"
	done.CompletedAt = &at
	row := fmt.Sprintf(`{"event_type":"run_completed","run_id":%q,"timestamp":%q}`, first, at)
	_, err = tx.Commit(ctx, Change{
		Record: &protocol.Record{Rules: protocol.RuleSet, Name: protocol.OpExternal, Env: d.env("x")},
		Transition: &protocol.Transition{State: done, Index: tx.View().Index, Subject: "complete",
			Appends: []ledger.Append{{Ledger: wire.LedgerEvents, Data: []byte(row + "\n")}}},
	})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	_ = tx.Close()
	history := d.read(wire.LedgerHistory.Path())
	if _, _, err := d.try(initOp(true)); codeOf(err) != protocol.CodeConfirmationRequired {
		t.Fatalf("a run on top of what nobody confirmed: %v", err)
	}
	d.must(func(v *View) protocol.Operation {
		return &protocol.Confirm{
			Upto:   string(v.Op),
			State:  wire.Digest(v.StateBytes),
			Claims: []external.Claim{v.Open[0].Claim},
		}
	})
	out, _ := d.must(initOp(true))
	if out.Run == first || d.read(wire.LedgerHistory.Path()) != history {
		t.Fatal("the second run did not take over the ledgers")
	}
	d.turns(1)
	ops, err := d.store.Log(ctx, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	root := ops[len(ops)-1]
	if len(root.Parents) != 0 || root.Previous == "" || root.Name != "init_run" {
		t.Errorf("%+v", root)
	}
	d.clean()
}

func TestShowAndLog(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	d.must(assignOp)
	out, tr := d.must(d.acceptOp)
	ctx := context.Background()
	det, err := chain.Show(ctx, d.store.repo, string(out.Op[:12]))
	if err != nil {
		t.Fatal(err)
	}
	if det.Name != "accept_turn" || det.Turn != tr.Turn || len(det.Evidence) != 1 || det.StateBefore == nil ||
		!bytes.Equal(det.StateAfter, tr.State.Encode()) || det.Actor != "Ada" ||
		!det.Time.Equal(tick.Add(3*time.Second)) {
		t.Errorf("%+v", det)
	}
	var ledgers []string
	for _, l := range det.Ledgers {
		ledgers = append(ledgers, string(l.Ledger))
	}
	if got := strings.Join(ledgers, " "); got != "history decisions events talk" {
		t.Errorf("ledgers %s", got)
	}
	for _, bad := range []string{"", "-x", "nothing", "HEAD"} {
		if _, err := chain.Show(ctx, d.store.repo, bad); fail.CodeOf(err) != wire.CodeNotFound {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if ops, err := d.store.Log(ctx, "", 2); err != nil || len(ops) != 2 || ops[0].Op != out.Op {
		t.Errorf("%v %v", ops, err)
	}
}
