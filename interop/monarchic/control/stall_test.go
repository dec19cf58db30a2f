// How long nothing may happen: a runner that asks gets work, unless another is at work, and one
// that dies delays its turn by one lease. The clock is the test's own.

package control_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// fate is what becomes of a runner that has a lease.
type fate int

const (
	works  fate = iota
	dies        // before it has written anything
	fails       // in the middle, leaving what it wrote
	sleeps      // and reports after its lease has ended
)

// worker is a simulated runner: it does one thing at a time, the next one at the time at.
type worker struct {
	name  string
	a     *agent
	at    time.Time
	lease *pb.LeaseRef // nil when it asks for work next
	path  string
	fate  fate
}

// stalls is a simulation of workers under one clock.
type stalls struct {
	s        *served
	rng      *rand.Rand
	workers  []*worker
	risk     int                 // in percent
	moved    time.Time           // when a lease was last issued or an outcome last judged
	reported map[string]bool     // tokens whose outcome waits for turns beside it
	codes    map[string]int      // of answers without work
	tokens   map[string]struct{} // that were issued
	over     bool
}

func TestNoStallIsLongerThanALease(t *testing.T) {
	testrepo.Serving(t)
	for _, c := range []struct{ tasks, runners, risk int }{{7, 3, 30}, {6, 5, 15}, {4, 1, 40}} {
		t.Run(fmt.Sprintf("%d tasks, %d runners, %d percent fail", c.tasks, c.runners, c.risk), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 1))
			s := &served{t: t, dir: t.TempDir(), now: time.Now().UTC().Truncate(time.Millisecond)}
			s.opt = control.Options{TTL: time.Minute, Now: s.clock, Poll: 10 * time.Second, Patience: time.Nanosecond}
			s.servePlan(t, randomPlan(rng, c.tasks))
			m := &stalls{
				s:        s,
				rng:      rng,
				risk:     c.risk,
				moved:    s.clock(),
				reported: make(map[string]bool),
				codes:    make(map[string]int),
				tokens:   make(map[string]struct{}),
			}
			for i := range c.runners {
				name := fmt.Sprintf("r%d", i)
				m.workers = append(m.workers, &worker{name: name, a: s.register(name, nil), at: s.clock()})
			}
			for steps := 0; !m.over; steps++ {
				if steps > 100*c.tasks {
					t.Fatalf("no end after %d steps; answers without work: %v", steps, m.codes)
				}
				m.step(t)
			}
			v, err := s.r.View(context.Background())
			must(t, err)
			if v.State.Status != runner.StatusCompleted {
				t.Fatalf("the run is %s: %s", v.State.Status, v.State.Encode())
			}
			t.Logf("%d leases for %d tasks; answers without work: %v", len(m.tokens), c.tasks, m.codes)
		})
	}
}

// step lets the worker whose time comes first do its next thing.
func (m *stalls) step(t *testing.T) {
	t.Helper()
	m.rng.Shuffle(len(m.workers), func(i, j int) { m.workers[i], m.workers[j] = m.workers[j], m.workers[i] })
	w := m.workers[0]
	for _, other := range m.workers {
		if other.at.Before(w.at) {
			w = other
		}
	}
	if d := w.at.Sub(m.s.clock()); d > 0 {
		m.s.later(d)
	}
	if w.lease == nil {
		m.ask(t, w)
		return
	}
	switch l := w.lease; w.fate {
	case dies, fails:
		w.lease, w.a = nil, m.s.register(w.name, nil)
	default:
		m.report(t, w, l)
	}
}

// ask makes a worker ask for work, and checks an answer without work against the facts.
func (m *stalls) ask(t *testing.T, w *worker) {
	t.Helper()
	now, poll := m.s.clock(), m.s.opt.Poll
	res := w.a.acquire()
	if as := res.Assignment; as != nil {
		if _, again := m.tokens[as.Lease.FencingToken]; again {
			t.Fatalf("the token %s was handed out twice", as.Lease.FencingToken)
		}
		m.tokens[as.Lease.FencingToken] = struct{}{}
		m.moved = now
		_ = w.a.started(as.Lease)
		own := as.Task.Extensions.Fields["agentxchain"].GetStructValue().Fields
		w.lease, w.fate, w.path = as.Lease, works, "work/"+charterOf(own["prompt"].GetStringValue())+".md"
		w.at = now.Add(time.Duration(m.rng.Int64N(int64(m.s.opt.TTL) * 9 / 10)))
		if m.rng.IntN(100) < m.risk {
			w.fate = dies + fate(m.rng.IntN(3))
		}
		if w.fate != dies {
			m.s.write(w.path)
		}
		if w.fate == sleeps {
			w.at = now.Add(m.s.opt.TTL + 2*poll)
		}
		return
	}
	w.at = now.Add(time.Duration(res.RetryAfterMs) * time.Millisecond)
	own := res.Extensions.GetFields()["agentxchain"].GetStructValue().GetFields()
	code := own["code"].GetStringValue()
	m.codes[code]++
	if code == control.CodeRunOver {
		m.over = true
		return
	}
	if stall := now.Sub(m.moved); stall > m.s.opt.TTL+poll {
		t.Fatalf("nothing has happened for %v, and there is no work: %s: %s", stall, code,
			own["message"].GetStringValue())
	}
	if code == "" || own["message"].GetStringValue() == "" {
		t.Fatalf("no work, and no reason: %v", res)
	}
	list, _, err := m.s.r.Leases(context.Background(), "")
	must(t, err)
	for _, l := range list {
		if l.Live && !m.reported[l.Lease.FencingToken.Token] {
			return
		}
	}
	t.Fatalf("no runner is at work, and there is no work: %s: %s", code, own["message"].GetStringValue())
}

// report makes a worker hand in its result.
func (m *stalls) report(t *testing.T, w *worker, l *pb.LeaseRef) {
	t.Helper()
	now := m.s.clock()
	res := w.a.report(l, pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
		completing(0)(req)
		req.Artifacts[0].Path = w.path
	})
	switch code := res.Failure.GetCode(); {
	case res.Accepted:
		m.moved = now
	case code == runner.CodeSiblingsAtWork: // kept; the runner goes on with other work, or asks again
		m.reported[l.FencingToken] = true
		if m.rng.IntN(2) == 0 {
			w.at = now.Add(m.s.opt.Poll)
			return
		}
	case res.Failure.GetClass() == "policy": // its lease has ended
		if w.fate == works && !m.reported[l.FencingToken] {
			t.Fatalf("in time, and refused: %v", res.Failure)
		}
	case code == wire.CodeUndeclaredOutputs, code == wire.CodeArtifactMismatch:
		m.moved = now // judged: another attempt follows
	default:
		t.Fatalf("refused: %v", res.Failure)
	}
	w.lease, w.at = nil, now
}
