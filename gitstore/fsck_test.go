package gitstore

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
)

// checked is a report that prints all its findings.
type checked struct{ *proof.Report }

// fsck runs a check with replay.
func (d *driver) fsck(run string) checked {
	d.t.Helper()
	r, err := d.store.Fsck(context.Background(), proof.Options{Run: run, Replay: true})
	if err != nil {
		d.t.Fatalf("%+v", err)
	}
	return checked{r}
}

func (r checked) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "runs %d ops %d replayed %d skipped %d\n", r.Runs, r.Ops, r.Replayed, r.Skipped)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s run=%s op=%s path=%s note=%v: %s [%s]\n", f.Code, f.Run, f.Op.Short(), f.Path, f.Note,
			f.Message, f.Repair)
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
