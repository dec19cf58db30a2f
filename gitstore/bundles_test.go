// Tests of bundle supplements (recorded, renewed, removed) and of the kept log.

package gitstore

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestSupplementsGoWithTheirTurn(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	for _, altered := range []bool{false, true} {
		_, tr := d.must(assignOp)
		dir := wire.BundleDir(tr.Turn)
		if d.read(dir+"/hook/notes.txt") != "of a hook\n" {
			t.Fatal("the supplement is not in place")
		}
		if seal, ok, err := d.store.RecordedSeal(context.Background(), d.view().Run, d.view().Op,
			tr.Turn); err != nil || !ok || string(seal) != d.read(dir+"/MANIFEST.json") {
			t.Errorf("recorded seal %q %v %v", seal, ok, err)
		}
		if altered {
			d.write(dir+"/hook/notes.txt", "somebody's\n")
		}
		d.must(d.acceptOp)
		if _, err := os.Lstat(d.path(dir)); (err == nil) != altered {
			t.Errorf("altered %v: %v", altered, err)
		}
		if altered && d.read(dir+"/hook/notes.txt") != "somebody's\n" {
			t.Error("what was not recorded is gone")
		}
	}
	if _, ok, err := d.store.RecordedSeal(context.Background(), d.view().Run, d.view().Op, "turn_x"); ok ||
		err != nil {
		t.Error(ok, err)
	}
}

// TestEndedBundles reads what the bundles of ended turns contained, as far as a history goes.
func TestEndedBundles(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	var turns []string
	for range 2 {
		_, tr := d.must(assignOp)
		turns = append(turns, tr.Turn)
		d.must(d.acceptOp)
	}
	shallow := testrepo.New(t, testrepo.Options{ObjectFormat: d.store.repo.ObjectFormat})
	ref := git.RunRefPrefix + d.view().Run
	shallow.Git("fetch", "-q", "--depth=2", "file://"+d.Dir, ref+":"+ref)
	for dir, want := range map[string][]string{d.Dir: turns, shallow.Dir: turns[1:]} {
		repo, err := git.Discover(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := chain.EndedBundles(t.Context(), repo, d.view().Op, time.Time{}, turns, "hook/notes.txt")
		if found := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(found, slices.Sorted(slices.Values(want))) {
			t.Errorf("%v %v, want %v", found, err, want)
		}
	}
}

func TestBundleNamesAreChecked(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	for _, name := range []string{"", "/x", "x/", "a//b", "..", "a/../b", "../x", "a/.git/x", `a\b`, "a\x00",
		strings.Repeat("a/", 600) + "b"} {
		tx, err := d.store.Begin(context.Background(), "test", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		o := assignOp(tx.View())
		env := d.env(tx.View().Run)
		tr, refusal := protocol.Apply(tx.View().Snapshot(), o, env)
		if refusal != nil {
			t.Fatal(refusal)
		}
		_, err = tx.Commit(context.Background(), Change{Record: protocol.NewRecord(o, env), Transition: tr,
			Bundles: map[string]map[string][]byte{tr.Turn: {name: nil, "MANIFEST.json": nil}}})
		if codeOf(err) != wire.CodeInvalidArgument {
			t.Errorf("%q: %v", name, err)
		}
		_ = tx.Close()
	}
}

func TestKeepLog(t *testing.T) {
	d := newDriver(t)
	if err := d.store.KeepLog(".agentxchain/none", ".agentxchain/dispatch/audit/t/stdout.log"); err != nil {
		t.Error(err)
	}
	d.write("log", strings.Repeat("x", logTail)+"end\n")
	if err := d.store.KeepLog("log", ".agentxchain/dispatch/audit/t/stdout.log"); err != nil {
		t.Fatal(err)
	}
	if got := d.read(".agentxchain/dispatch/audit/t/stdout.log"); len(got) != logTail ||
		!strings.HasSuffix(got, "xend\n") {
		t.Errorf("%d bytes", len(got))
	}
}
