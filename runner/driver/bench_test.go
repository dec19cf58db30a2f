//go:build unix

package driver_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// BenchmarkDispatch measures the cost of a dispatch besides the agent, which does next to nothing
// here.
func BenchmarkDispatch(b *testing.B) {
	p := newProject(b, shell("echo hi; "+stage), runner.Options{Trust: true})
	p.assign()
	v, err := p.r.View(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	id := v.State.ActiveTurns.Keys()[0]
	d := newDriver(p.r)
	for b.Loop() {
		// An existing log is archived first; usually a turn has none.
		_ = os.Remove(filepath.Join(p.dir, wire.BundleDir(id), "stdout.log"))
		if out := d.Dispatch(context.Background(), driver.Job{TurnID: id, View: v}); out.Kind != runtimes.Staged {
			b.Fatalf("%+v", out)
		}
	}
}
