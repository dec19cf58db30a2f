// N runners finish any plan: random graphs, runners that die and dawdle, every task accepted
// exactly once, and a reason whenever there is no work.

package control_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// servePlan serves a project made from a plan whose roles all write, by the real clock.
func servePlan(t *testing.T, plan []byte, ttl time.Duration) *served {
	t.Helper()
	return (&served{t: t, dir: t.TempDir(), opt: control.Options{TTL: ttl}}).servePlan(t, plan)
}

func (s *served) servePlan(t *testing.T, plan []byte) *served {
	t.Helper()
	testrepo.Isolate()
	ctx := context.Background()
	repo, err := gitstore.Create(ctx, s.dir, "Ada", "ada@example.org")
	must(t, err)
	read, refusal := bridge.ReadPlan(plan, nil)
	if refusal != nil {
		t.Fatal(refusal)
	}
	im, refusal := bridge.ForNewProject(read, bridge.FitOptions{Agent: "true"})
	if refusal != nil {
		t.Fatal(refusal)
	}
	_, err = runner.InitProject(ctx, s.dir, runner.ProjectOptions{Name: im.Plan.ID, Config: im.Config})
	must(t, err)
	_, err = gitcommit.Paths(ctx, repo, []string{"."}, "governed project")
	must(t, err)
	must(t, repo.Close())
	r, err := runner.Open(ctx, s.dir, runner.Options{})
	must(t, err)
	_, err = r.QueueCharters(ctx, runner.CharterOptions{Plan: im.Record(), Charters: im.Charters})
	must(t, err)
	must(t, r.Close())
	s.opt.Version, s.opt.Poll = "test", cmp.Or(s.opt.Poll, 10*time.Millisecond)
	s.opt.Log = func(c control.Call) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, c)
	}
	stop := s.start()
	t.Cleanup(func() { stop() })
	s.c = s.dial(insecure.NewCredentials())
	return s
}

// randomPlan returns a graph of n tasks with edges to earlier tasks and a few roles.
func randomPlan(rng *rand.Rand, n int) []byte {
	var tasks []string
	roles := 1 + rng.IntN(5)
	for i := range n {
		deps := []string{}
		for j := range i {
			if rng.IntN(n) < 2 && len(deps) < 4 {
				deps = append(deps, fmt.Sprintf("%q", fmt.Sprintf("t%d", j)))
			}
		}
		tasks = append(tasks,
			fmt.Sprintf(`{"id":"t%d","role":"dev","role_id":"role%d","goal":"do t%d","depends_on":[%s]}`,
				i, rng.IntN(roles), i, strings.Join(deps, ",")))
	}
	return []byte(`{"version":"v1","pipeline_id":"p","objective":"o","project_key":"k","tasks":[` +
		strings.Join(tasks, ",") + `]}`)
}

// flaky is a runner that only knows the protocol, and dies or dawdles at random.
type flaky struct {
	s    *served
	rng  *rand.Rand
	name string
	ttl  time.Duration
	risk int // in percent
	done *atomic.Bool
	last *atomic.Int64 // when something was last accepted, unix nanoseconds
}

func (f *flaky) work() {
	a := f.register()
	for !f.done.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		res, err := f.s.c.AcquireLease(ctx, &pb.AcquireLeaseRequest{
			ContractVersion: "v1",
			RunnerId:        a.id,
			SessionId:       a.session,
			AvailableSlots:  1,
		})
		cancel()
		if err != nil {
			f.s.t.Errorf("%s: %v", f.name, err)
			return
		}
		if res.Assignment == nil {
			own := res.Extensions.GetFields()["agentxchain"].GetStructValue().GetFields()
			if own["code"].GetStringValue() == "" || own["message"].GetStringValue() == "" {
				f.s.t.Errorf("no work, and no reason: %v", res)
			}
			if own["code"].GetStringValue() == control.CodeRunOver {
				f.done.Store(true)
				return
			}
			time.Sleep(time.Duration(res.RetryAfterMs) * time.Millisecond)
			continue
		}
		l := res.Assignment.Lease
		_ = a.started(l)
		own := res.Assignment.Task.Extensions.Fields["agentxchain"].GetStructValue().Fields
		path := "work/" + charterOf(own["prompt"].GetStringValue()) + ".md"
		if f.rng.IntN(100) < f.risk/2 { // killed before it wrote anything
			a = f.register()
			continue
		}
		must(f.s.t, os.MkdirAll(filepath.Join(f.s.dir, "work"), 0o777))
		must(f.s.t, os.WriteFile(filepath.Join(f.s.dir, path), []byte(l.FencingToken+"\n"), 0o666))
		switch n := f.rng.IntN(100); {
		case n < f.risk/2: // killed in the middle
			a = f.register()
			continue
		case n < f.risk: // it sleeps longer than its lease
			time.Sleep(f.ttl + 20*time.Millisecond)
		default:
			time.Sleep(time.Duration(f.rng.IntN(20)) * time.Millisecond)
		}
		f.report(a, l, path)
	}
}

// report hands in a result as the protocol says, until it gets a final answer.
func (f *flaky) report(a *agent, l *pb.LeaseRef, path string) {
	for range 20 {
		res, err := f.s.c.ReportStepOutcome(context.Background(), &pb.ReportStepOutcomeRequest{
			ContractVersion: "v1", RunnerId: a.id, SessionId: a.session, Lease: l, Status: pb.PlanStatus_COMPLETE,
			Artifacts: []*pb.Artifact{{
				Version:    "v1",
				ArtifactId: "a",
				Type:       "patch",
				Summary:    "wrote " + path,
				Path:       path,
				TaskId:     l.TaskId,
			}},
			RunOutcome: &pb.RunOutcome{
				Version:       "v1",
				TaskId:        l.TaskId,
				FinalDecision: pb.OutcomeDecision_ACCEPT,
				Summary:       new("did " + path),
				Evidence:      checks(0),
			},
		})
		if err != nil {
			f.s.t.Errorf("%s: %v", f.name, err)
			return
		}
		if res.Accepted {
			f.last.Store(time.Now().UnixNano())
			return
		}
		if res.Failure.GetCode() != runner.CodeSiblingsAtWork {
			if c := res.Failure.GetClass(); c != "policy" {
				f.s.t.Logf("%s: refused: %v", f.name, res.Failure)
			}
			return
		}
		if f.rng.IntN(2) == 0 {
			return // it goes on with other work; the server judges what it reported
		}
	}
}

func (f *flaky) register() *agent { return f.s.register(f.name, nil) }

// checks returns evidence of one command.
func checks(code int) *structpb.Struct {
	st, _ := structpb.NewStruct(
		map[string]any{"checks": []any{map[string]any{"command": "test -s", "exit_code": float64(code)}}})
	return st
}

// charterOf returns the task in a prompt: "do t7".
func charterOf(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "> do ")
	word, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(word)
}

func TestAnyNumberOfRunnersFinishesAnyPlan(t *testing.T) {
	testrepo.Serving(t)
	rounds, maxTasks, maxRunners := 2, 8, 3
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		rounds, maxTasks, maxRunners = 30, 40, 8
	}
	for round := range rounds {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		n, runners, risk := 1+maxTasks/2+rng.IntN(maxTasks/2), 1+rng.IntN(maxRunners), rng.IntN(2)*10
		if round == 0 {
			n, runners, risk = maxTasks, maxRunners, 12
		}
		t.Run(fmt.Sprintf("%d tasks, %d runners, %d percent fail", n, runners, risk), func(t *testing.T) {
			t.Logf("seed %d", seed)
			finishPlan(t, rng, n, runners, risk)
		})
	}
}

func finishPlan(t *testing.T, rng *rand.Rand, n, runners, risk int) {
	const ttl = 1500 * time.Millisecond
	s := servePlan(t, randomPlan(rng, n), ttl)
	var done atomic.Bool
	var last atomic.Int64
	last.Store(time.Now().UnixNano())
	var all sync.WaitGroup
	for i := range runners {
		f := &flaky{
			s:    s,
			rng:  rand.New(rand.NewPCG(rng.Uint64(), 1)),
			name: fmt.Sprintf("r%d", i),
			ttl:  ttl,
			risk: risk,
			done: &done,
			last: &last,
		}
		all.Go(f.work)
	}
	// This only ends a hanging test: TestNoStallIsLongerThanALease checks how long nothing may happen, with a
	// clock that a busy machine does not move.
	for !done.Load() && time.Since(time.Unix(0, last.Load())) < 40*ttl {
		time.Sleep(20 * time.Millisecond)
	}
	stalled := !done.Swap(true)
	all.Wait()
	v, err := s.r.View(context.Background())
	must(t, err)
	if stalled || v.State.Status != runner.StatusCompleted {
		s.mu.Lock()
		for _, c := range s.calls[max(0, len(s.calls)-40):] {
			t.Logf("%s %s %s %s: %s", c.Method, c.Runner, c.Outcome, c.Code, c.Detail)
		}
		s.mu.Unlock()
		t.Fatalf("the run is %s, stalled %v: %s", v.State.Status, stalled, v.State.Encode())
	}
	rows, err := s.r.Record().TailRows(context.Background(), wire.LedgerHistory, 0, func(o *ojson.Object) bool {
		return o.String("status") == wire.ResultCompleted
	})
	must(t, err)
	times := make(map[string]int)
	for _, row := range rows {
		times[row.Row.String("charter_id")]++
	}
	for i := range n {
		if id := fmt.Sprintf("t%d", i); times[id] != 1 {
			t.Errorf("task %s was accepted %d times", id, times[id])
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.Outcome == "none" && (c.Code == "" || c.Detail == "") {
			t.Errorf("logged without a reason: %+v", c)
		}
	}
}
