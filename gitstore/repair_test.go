package gitstore

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (d *driver) repair(mode RepairMode, opt RepairOptions) *RepairPlan {
	d.t.Helper()
	p, err := d.store.Repair(context.Background(), mode, opt)
	if err != nil {
		d.t.Fatalf("%+v", err)
	}
	return p
}

func TestRepairFromRef(t *testing.T) {
	for name, damage := range map[string]func(d *driver){
		"history rewritten": func(d *driver) {
			d.editRow(wire.LedgerHistory, 1, func(o *ojson.Object) { o.Set("summary", "x") })
		},
		"state garbage": func(d *driver) { d.write(string(wire.DocState), "{") },
		"state removed": func(d *driver) { _ = os.Remove(d.path(string(wire.DocState))) },
		"all gone":      func(d *driver) { _ = os.RemoveAll(d.path(".agentxchain")) },
		"state is a link": func(d *driver) {
			_ = os.Remove(d.path(string(wire.DocState)))
			_ = os.Symlink("/etc/hostname", d.path(string(wire.DocState)))
		},
		"ledger is a directory": func(d *driver) {
			_ = os.Remove(d.path(wire.LedgerEvents.Path()))
			_ = os.MkdirAll(d.path(wire.LedgerEvents.Path()+"/x"), 0o777)
		},
		"foreign ledger": func(d *driver) { d.write(wire.LedgerHookAudit.Path(), "junk\n") },
	} {
		t.Run(name, func(t *testing.T) {
			d := started(t)
			want := governedFiles(t, d)
			_ = d.store.Close()
			d = openDriver(t, d.Dir)
			d.n = 100
			damage(d)
			if d.fsck("").Clean() {
				t.Error("fsck finds nothing")
			}
			disk := snapshotFiles(t, d.Dir)
			plan := d.repair(FromRef, RepairOptions{DryRun: true})
			if now := snapshotFiles(t, d.Dir); !maps.Equal(disk, now) || plan.Done || len(plan.Actions) == 0 {
				t.Fatalf("dry run: %+v", plan)
			}
			plan = d.repair(FromRef, RepairOptions{})
			if now := governedFiles(t, d); !maps.Equal(want, now) || !plan.Done {
				t.Fatalf("%+v\n%v\n%v", plan, want, now)
			}
			for _, a := range plan.Actions {
				if a.Kept == "" {
					continue
				}
				if _, err := os.Lstat(d.path(a.Kept)); err != nil {
					t.Error(err)
				}
			}
			d.clean()
			d.must(d.acceptOp)
			d.turns(1)
			d.clean()
		})
	}
}

func TestRepairFreshClone(t *testing.T) {
	d := started(t)
	want := governedFiles(t, d)
	gitIn(t, d.Dir, "add", wire.ConfigPath)
	gitIn(t, d.Dir, "commit", "-q", "-m", "config")
	dir := t.TempDir()
	gitIn(t, dir, "clone", "-q", d.Dir, "c")
	gitIn(t, filepath.Join(dir, "c"), "fetch", "-q", "origin", "refs/agentxchain/runs/*:refs/agentxchain/runs/*")
	e := openDriver(t, filepath.Join(dir, "c"))
	e.n = 100
	if v := e.view(); v.State != nil || v.Run != "" {
		t.Errorf("%+v", v)
	}
	e.repair(FromRef, RepairOptions{})
	if now := governedFiles(t, e); !maps.Equal(want, now) {
		t.Fatalf("%v\n%v", want, now)
	}
	if _, err := os.Stat(e.path(wire.BundleDir(e.view().State.OnlyTurn().TurnID) + "/PROMPT.md")); err != nil {
		t.Error(err)
	}
	e.must(e.acceptOp)
	e.clean()
}

func TestRepairAcceptWorking(t *testing.T) {
	d := started(t)
	d.editRow(wire.LedgerHistory, 1, func(o *ojson.Object) { o.Set("summary", "a secret was here") })
	if _, err := d.store.View(context.Background()); fail.CodeOf(err) != record.CodeLedgerTampered {
		t.Fatal(err)
	}
	disk := snapshotFiles(t, d.Dir)
	plan := d.repair(AcceptWorking, RepairOptions{DryRun: true, Reason: "redacted"})
	if len(plan.Actions) != 1 || plan.Actions[0].Path != wire.LedgerHistory.Path() || plan.Op != "" {
		t.Errorf("%+v", plan)
	}
	plan = d.repair(AcceptWorking, RepairOptions{Reason: "redacted"})
	if now := snapshotFiles(t, d.Dir); !maps.Equal(disk, now) {
		t.Error("accepting changed the work tree")
	}
	det, err := chain.Show(context.Background(), d.store.repo, string(plan.Op))
	if err != nil || len(det.Ledgers) != 1 || det.Ledgers[0].Rewritten == "" {
		t.Errorf("%+v %v", det, err)
	}
	d.must(d.acceptOp)
	d.turns(1)
	r := d.fsck("")
	if !r.Clean() || len(r.Findings) == 0 || !strings.Contains(r.Findings[0].Message, "redacted") {
		t.Errorf("%s", r)
	}
	// Unreadable files are not accepted.
	d.appendTo(wire.LedgerHistory.Path(), "garbage\n")
	if _, err := d.store.Repair(context.Background(), AcceptWorking,
		RepairOptions{}); fail.CodeOf(err) != record.CodeLedgerTampered {
		t.Error(err)
	}
	d.repair(FromRef, RepairOptions{})
	d.clean()
}

func TestRepairWithoutRun(t *testing.T) {
	d := newDriver(t)
	if _, err := d.store.Repair(context.Background(), FromRef, RepairOptions{}); fail.CodeOf(err) != chain.CodeNoRun {
		t.Error(err)
	}
	if p := d.repair(AcceptWorking, RepairOptions{}); !p.Done {
		t.Errorf("%+v", p)
	}
}

func TestFsckFindsDamage(t *testing.T) {
	corruptTip := func(d *driver, edit func(tree string) string) {
		run := d.view().Run
		tip := strings.TrimSpace(gitIn(d.t, d.Dir, "rev-parse", git.RunRefPrefix+run))
		tree := edit(tip)
		msg := gitIn(d.t, d.Dir, "log", "-1", "--format=%B", tip)
		c := strings.TrimSpace(gitIn(d.t, d.Dir, "commit-tree", tree, "-p", tip+"^", "-m", strings.TrimSpace(msg)))
		gitIn(d.t, d.Dir, "update-ref", git.RunRefPrefix+run, c)
	}
	replaceFile := func(path, content string) func(d *driver) {
		return func(d *driver) {
			corruptTip(d, func(tip string) string {
				d.write("blob.tmp", content)
				blob := strings.TrimSpace(gitIn(d.t, d.Dir, "hash-object", "-w", "blob.tmp"))
				index := d.path("index.tmp")
				d.t.Setenv("GIT_INDEX_FILE", index)
				gitIn(d.t, d.Dir, "read-tree", tip)
				gitIn(d.t, d.Dir, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
				return strings.TrimSpace(gitIn(d.t, d.Dir, "write-tree"))
			})
		}
	}
	cases := []struct {
		name   string
		damage func(d *driver)
		code   string
	}{
		{"state swapped", replaceFile("state.json", "{}\n"), proof.FindReplay},
		{"history swapped", replaceFile("ledger/history/000000/00", "{}\n"), record.CodeLedgerTampered},
		{"gap in a ledger", replaceFile("ledger/history/000000/05", "{}\n"), record.CodeChainBroken},
		{"index swapped", replaceFile("index.json", "{}\n"), proof.FindReplay},
		{"record swapped", replaceFile("op.json", "{}\n"), proof.FindRecord},
		{"unknown entry", replaceFile("surplus", "x"), proof.FindReplay},
		{"merge in the chain", func(d *driver) {
			run := d.view().Run
			tip := strings.TrimSpace(gitIn(d.t, d.Dir, "rev-parse", git.RunRefPrefix+run))
			msg := gitIn(d.t, d.Dir, "log", "-1", "--format=%B", tip)
			c := strings.TrimSpace(gitIn(d.t, d.Dir, "commit-tree", tip+"^{tree}", "-p", tip+"^", "-p", "HEAD",
				"-m", strings.TrimSpace(msg)))
			gitIn(d.t, d.Dir, "update-ref", git.RunRefPrefix+run, c)
		}, record.CodeChainBroken},
		{"foreign commit", func(d *driver) {
			run := d.view().Run
			tip := strings.TrimSpace(gitIn(d.t, d.Dir, "rev-parse", git.RunRefPrefix+run))
			c := strings.TrimSpace(gitIn(d.t, d.Dir, "commit-tree", "HEAD^{tree}", "-p", tip, "-m", "hello"))
			gitIn(d.t, d.Dir, "update-ref", git.RunRefPrefix+run, c)
		}, proof.FindRecord},
		{"symbolic ref", func(d *driver) {
			gitIn(d.t, d.Dir, "symbolic-ref", git.RunRefPrefix+"run_x",
				"refs/heads/main")
		}, fail.CodeRefSymbolic},
		{"stat restored", func(d *driver) {
			name := d.path(wire.LedgerHistory.Path())
			d.write(wire.LedgerHistory.Path(),
				strings.Replace(d.read(wire.LedgerHistory.Path()), "Looked", "Booked", 1))
			// Pretend that the cache saw exactly this file.
			c := d.store.readCache()
			fi, _ := os.Stat(name)
			m := c.Ledgers[wire.LedgerHistory]
			m.Stat = git.StatOf(fi)
			c.Ledgers[wire.LedgerHistory] = m
			_ = d.store.writeCache(c)
		}, record.CodeLedgerTampered},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := started(t)
			c.damage(d)
			r := d.fsck("*")
			found := false
			for _, f := range r.Findings {
				found = found || f.Code == c.code && !f.Note
			}
			if !found || r.Clean() {
				t.Errorf("want %s:\n%s", c.code, r)
			}
		})
	}
}

func TestFsckDamagedObject(t *testing.T) {
	d := started(t)
	loosen(t, d)
	run := d.view().Run
	blob := strings.TrimSpace(gitIn(t, d.Dir, "rev-parse", git.RunRefPrefix+run+"~2:state.json"))
	loose := d.path(".git/objects/" + blob[:2] + "/" + blob[2:])
	if err := os.Chmod(loose, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(loose, []byte("damage"), 0o666); err != nil {
		t.Fatal(err)
	}
	e := openDriver(t, d.Dir)
	if r := e.fsck(""); !strings.Contains(r.String(), blob) || !strings.Contains(r.String(), fail.CodeObjectCorrupt) {
		t.Errorf("%s", r)
	}
	if err := os.Remove(loose); err != nil {
		t.Fatal(err)
	}
	if r := e.fsck(""); !strings.Contains(r.String(), blob) || !strings.Contains(r.String(), fail.CodeObjectMissing) {
		t.Errorf("%s", r)
	}
}

// loosen makes every object a loose file.
func loosen(t *testing.T, d *driver) {
	t.Helper()
	gitIn(t, d.Dir, "repack", "-adq")
	dir := t.TempDir()
	packs, _ := filepath.Glob(d.path(".git/objects/pack/*"))
	for _, p := range packs {
		if err := os.Rename(p, filepath.Join(dir, filepath.Base(p))); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range packs {
		if strings.HasSuffix(p, ".pack") {
			unpack(t, d.Dir, filepath.Join(dir, filepath.Base(p)))
		}
	}
}

func unpack(t *testing.T, dir, pack string) {
	t.Helper()
	f, err := os.Open(pack)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	cmd := gitCommand(dir, "unpack-objects", "-q")
	cmd.Stdin = f
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

func TestShowAfterHeadMoves(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	d := scaffold(t, r.Dir)
	d.must(initOp(false))
	d.turns(1)
	r.Write("z.txt", "z")
	r.CommitAll("more")
	d.turns(1)
	d.clean()
}
