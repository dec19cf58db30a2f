// Tests of bundles that are open for hooks: settled by the command itself, or by the next one after a kill; and of
// restored ledgers.

package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// messUp does to an open bundle what a dispatch and its hooks do, and worse.
func messUp(d *driver, dir string) {
	d.t.Helper()
	d.write(dir+"/PROMPT.md", "orders of an attempt that never was\n")
	d.write(dir+"/hook/notes.txt", "changed\n")
	d.write(dir+"/hook/new.txt", "new\n")
	d.write(dir+"/CONTEXT.effective.md", "trust me\n")
	d.write(dir+"/stdout.log", "an actor's\n")
	for _, err := range []error{os.Remove(d.path(dir + "/CONTEXT.md")), os.Symlink("/etc/passwd", d.path(dir+"/link")),
		os.Mkdir(d.path(dir+"/CONTEXT.md"), 0o777),
		os.Mkdir(d.path(dir+"/empty"), 0o777)} {
		if err != nil {
			d.t.Fatal(err)
		}
	}
	d.write(dir+"/CONTEXT.md/x", "x")
}

func TestOpenBundleIsSettled(t *testing.T) {
	for _, killed := range []bool{false, true} {
		d := newDriver(t)
		d.must(initOp(false))
		_, tr := d.must(assignOp)
		dir := wire.BundleDir(tr.Turn)
		d.write(dir+"/of-nobody.txt", "mine\n")
		ctx := context.Background()
		tx, err := d.store.Begin(ctx, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.OpenBundle(ctx, tr.Turn); err != nil {
			t.Fatal(err)
		}
		messUp(d, dir)
		if killed {
			_ = tx.Close() // the note stays; the death of the owner follows below
			if tx, err = d.store.Begin(ctx, "test", 0); err != nil {
				t.Fatal(err)
			}
			if d.read(dir+"/hook/new.txt") != "new\n" {
				t.Error("settled although no owner of the lock died")
			}
			tx.lock.Inherited = true
			if turn, err := tx.settleLeft(ctx); err != nil || turn != tr.Turn {
				t.Errorf("settled %q: %v", turn, err)
			}
			if turn, err := tx.settleLeft(ctx); err != nil || turn != "" {
				t.Errorf("settled again %q: %v", turn, err)
			}
		} else if err := tx.SettleBundle(ctx); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"PROMPT.md":      "do it\n",
			"CONTEXT.md":     "all\n",
			"hook/notes.txt": "of a hook\n",
			"of-nobody.txt":  "mine\n",
			"stdout.log":     "an actor's\n",
		} {
			if got := d.read(dir + "/" + name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		for _, name := range []string{"hook/new.txt", "CONTEXT.effective.md", "link"} {
			if _, err := os.Lstat(d.path(dir + "/" + name)); err == nil {
				t.Errorf("%s is still there", name)
			}
		}
		if _, err := os.Lstat(filepath.Join(private.Dir(d.store.repo), openBundleName)); err == nil {
			t.Error("the note is still there")
		}
		_ = tx.Close()
		d.clean()
	}
}

// The bundle of a turn that was never recorded is removed with its directory.
func TestOpenBundleOfNoTurn(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	ctx := context.Background()
	tx, err := d.store.Begin(ctx, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Close() }()
	if err := tx.OpenBundle(ctx, "turn_new"); err != nil {
		t.Fatal(err)
	}
	dir := wire.BundleDir("turn_new")
	if err := os.MkdirAll(d.path(dir+"/a/b"), 0o777); err != nil {
		t.Fatal(err)
	}
	d.write(dir+"/PROMPT.md", "x")
	d.write(dir+"/a/b/c", "x")
	if err := tx.SettleBundle(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(d.path(dir)); err == nil {
		t.Error("the directory is still there")
	}
	for _, turn := range []string{"", "..", "a/b", strings.Repeat("x", 5000)} {
		if err := tx.OpenBundle(ctx, turn); codeOf(err) != wire.CodeInvalidArgument {
			t.Errorf("%.20q: %v", turn, err)
		}
	}
}

// A ledger rewritten with its recorded content is as good as an untouched one; with anything else it still stops
// the next operation.
func TestReread(t *testing.T) {
	for _, more := range []string{"", "\n", "{}\n"} {
		d := newDriver(t)
		d.must(initOp(false))
		ctx := context.Background()
		tx, err := d.store.Begin(ctx, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		name := wire.LedgerEvents.Path()
		data := d.read(name) + more
		if err := os.Remove(d.path(name)); err != nil {
			t.Fatal(err)
		}
		d.write(name, data)
		if _, _, err := d.in(tx, assignOp); fail.CodeOf(err) != CodeStateMoved {
			t.Errorf("not noticed: %v", err)
		}
		if err := tx.Reread(ctx); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.in(tx, assignOp); more == "" && err != nil ||
			more != "" && fail.CodeOf(err) != CodeStateMoved {
			t.Errorf("%q: %v", more, err)
		}
		_ = tx.Close()
		if more == "" {
			d.clean()
		}
	}
}
