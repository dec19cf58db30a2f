// Tests of bundle supplements (recorded, renewed, removed) and of the kept log.

package gitstore

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

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
