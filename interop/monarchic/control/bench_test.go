// The cost of a lease from the request to the judged outcome.

package control_test

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
)

// BenchmarkLeaseCycle leases, begins and accepts turns one after the other, over one connection; it
// measures only these three calls (docs/performance.md).
func BenchmarkLeaseCycle(b *testing.B) {
	s := serve(b, func(o *control.Options) { o.Now = nil })
	a := s.register("worker", nil)
	for b.Loop() {
		as := a.lease()
		_ = a.started(as.Lease)
		if res := a.outcome(as.Lease, resultOf(as, "planned")); !res.Accepted {
			b.Fatal(res.Failure)
		}
	}
}
