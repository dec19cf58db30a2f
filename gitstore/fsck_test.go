package gitstore

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// fsck runs a check with replay.
func (d *driver) fsck(run string) *FsckReport {
	d.t.Helper()
	r, err := d.store.Fsck(context.Background(), FsckOptions{Run: run, Replay: true})
	if err != nil {
		d.t.Fatalf("%+v", err)
	}
	return r
}

func (r *FsckReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "runs %d ops %d replayed %d skipped %d\n", r.Runs, r.Ops, r.Replayed, r.Skipped)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s run=%s op=%s path=%s note=%v: %s [%s]\n", f.Code, f.Run, f.Op.Short(), f.Path, f.Note, f.Message, f.Repair)
	}
	return b.String()
}

func (d *driver) clean() {
	d.t.Helper()
	if r := d.fsck("*"); !r.Clean() {
		d.t.Fatalf("fsck:\n%s", r)
	}
}

func TestFsckClean(t *testing.T) {
	d := newDriver(t)
	d.clean()
	d.must(initOp(false))
	d.turns(5)
	r := d.fsck("")
	if !r.Clean() || r.Ops != 11 || r.Replayed != 11 || r.Skipped != 0 {
		t.Fatal(r)
	}
}

func TestReplaySpeed(t *testing.T) {
	if os.Getenv("PHASE") == "" {
		t.Skip()
	}
	d := newDriver(t)
	d.must(initOp(false))
	d.turns(400)
	for _, rp := range []bool{false, true} {
		start := time.Now()
		r, err := d.store.Fsck(context.Background(), FsckOptions{Replay: rp})
		if err != nil {
			t.Fatal(err)
		}
		el := time.Since(start)
		fmt.Println(r, el, float64(r.Ops)/el.Seconds(), "ops/s")
	}
	start := time.Now()
	f := &fsck{s: d.store, ctx: context.Background(), opt: FsckOptions{Replay: true}, report: &FsckReport{}}
	run := d.store.CurrentRun()
	tip, _ := d.store.readRun(f.ctx, run)
	if err := f.operations(run, tip); err != nil {
		t.Fatal(err)
	}
	fmt.Println("replay only", time.Since(start), float64(f.report.Ops)/time.Since(start).Seconds())
	start = time.Now()
	if err := f.objects([]git.Ref{{Name: git.RunRefPrefix + run, OID: tip}}); err != nil {
		t.Fatal(err)
	}
	fmt.Println("objects", time.Since(start))
}
