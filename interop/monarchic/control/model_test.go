//go:build unix

// The proof of fencing: runners in processes of their own compete for the turns of one run through
// kills, pauses and restarts of the server, and a linearizability model judges the answers they
// got.

package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testleak"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// The roles of a child process of the test, and its input.
const (
	childVar   = "AGENTXCHAIN_CONTROL_CHILD" // server, runner
	childDir   = "AGENTXCHAIN_CONTROL_DIR"
	childAddr  = "AGENTXCHAIN_CONTROL_ADDR"
	childName  = "AGENTXCHAIN_CONTROL_NAME"
	childLog   = "AGENTXCHAIN_CONTROL_LOG"
	fightTTL   = 700 * time.Millisecond
	fightPause = 900 * time.Millisecond // longer than a lease lasts
	fightSteps = 3                      // that have to be completed, or the proof shows nothing
)

func TestMain(m *testing.M) {
	switch os.Getenv(childVar) {
	case "server":
		os.Exit(serverChild())
	case "runner":
		os.Exit(runnerChild())
	}
	testleak.Main(m) // no test leaves a goroutine
}

// serverChild serves the project until it is killed.
func serverChild() int {
	ctx := context.Background()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "server:", err)
		return 1
	}
	r, err := runner.Open(ctx, os.Getenv(childDir), runner.Options{})
	if err != nil {
		return fail(err)
	}
	var s *control.Server
	for range 200 { // the lock of the one that was just killed
		if s, err = control.New(ctx,
			control.Options{Runner: r, TTL: fightTTL, Poll: 20 * time.Millisecond}); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		return fail(err)
	}
	var l net.Listener
	for range 200 {
		if l, err = s.Listen(ctx, os.Getenv(childAddr)); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		return fail(err)
	}
	return fail(s.Serve(ctx, l, time.Second))
}

// operation is one call of a runner in its log: a line before, a line after.
type operation struct {
	N      int    `json:"n"`
	Client string `json:"client"`
	Kind   string `json:"kind"` // acquire, resume, complete
	Step   string `json:"step,omitempty"`
	Token  int64  `json:"token,omitempty"` // issue time of the fencing token: its place in the order
	At     int64  `json:"at"`
	Done   bool   `json:"done,omitempty"` // the line after
	OK     bool   `json:"ok,omitempty"`
	Reason string `json:"reason,omitempty"`
	Got    int64  `json:"got,omitempty"` // the received token
}

// fighter is a runner that logs its requests and answers.
type fighter struct {
	name, session string
	c             pbgrpc.RunnerControlServiceClient
	log           *os.File
	n             int
}

func (f *fighter) note(o operation) {
	o.Client, o.At = f.name, time.Now().UnixNano()
	line, _ := json.Marshal(o)
	_, _ = f.log.Write(append(line, '\n')) // one write: whole or not at all
}

// call runs fn between two lines of the log; a missing answer leaves the operation open.
func (f *fighter) call(o operation, fn func(ctx context.Context, o *operation) error) bool {
	f.n++
	o.N = f.n
	f.note(o)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := fn(ctx, &o); err != nil {
		time.Sleep(10 * time.Millisecond)
		return false
	}
	o.Done = true
	f.note(o)
	return o.OK
}

func runnerChild() int {
	log, err := os.OpenFile(os.Getenv(childLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 1
	}
	conn, err := grpc.NewClient(os.Getenv(childAddr), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{
			BaseDelay:  20 * time.Millisecond,
			Multiplier: 1.2,
			MaxDelay:   100 * time.Millisecond,
		}, MinConnectTimeout: time.Second}))
	if err != nil {
		return 1
	}
	f := &fighter{name: os.Getenv(childName), c: pbgrpc.NewRunnerControlServiceClient(conn), log: log}
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		res, err := f.c.RegisterRunner(ctx, &pb.RegisterRunnerRequest{ContractVersion: "v1", RunnerId: "fighter"})
		cancel()
		if err == nil {
			f.session = res.SessionId
			break
		}
	}
	for f.turn() {
	}
	return 0
}

// turn makes one attempt to carry out a turn.
func (f *fighter) turn() bool {
	var as *pb.LeaseAssignment
	f.call(operation{Kind: "acquire"}, func(ctx context.Context, o *operation) error {
		res, err := f.c.AcquireLease(ctx, &pb.AcquireLeaseRequest{
			ContractVersion: "v1",
			RunnerId:        "fighter",
			SessionId:       f.session,
			AvailableSlots:  1,
		})
		if err != nil {
			return err
		}
		if as = res.Assignment; as != nil {
			o.OK, o.Step, o.Got = true, as.Lease.StepId, int64(as.IssuedAtMs)
		}
		return nil
	})
	if as == nil {
		time.Sleep(15 * time.Millisecond)
		return true
	}
	held := int64(as.IssuedAtMs)
	ref := as.Lease
	ask := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		_ = time.AfterFunc(4*time.Second, cancel)
		return ctx
	}
	_, _ = f.c.ReportStepStarted(ask(), &pb.ReportStepStartedRequest{
		ContractVersion: "v1",
		RunnerId:        "fighter",
		SessionId:       f.session,
		Lease:           ref,
	})
	time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
	if rand.IntN(4) == 0 {
		f.call(operation{Kind: "resume", Step: ref.StepId, Token: held}, func(ctx context.Context,
			o *operation) error {
			res, err := f.c.ResumeLease(ctx, &pb.ResumeLeaseRequest{
				ContractVersion: "v1",
				RunnerId:        "fighter",
				SessionId:       f.session,
				Lease:           ref,
			})
			if err != nil {
				return err
			}
			if o.OK = res.Accepted; o.OK {
				o.Got = int64(res.Lease.FencingToken.IssuedAtMs)
				held, ref.FencingToken = o.Got, res.CurrentFencingToken
			} else {
				o.Reason = res.Reason.String()
			}
			return nil
		})
	}
	// A completion without an answer may be sent again: that is how stale holders arise.
	for range 2 {
		answered := false
		f.call(operation{Kind: "complete", Step: ref.StepId, Token: held},
			func(ctx context.Context, o *operation) error {
				res, err := f.c.ReportStepOutcome(ctx, outcomeOf(f.session, ref, as, held))
				if err != nil {
					return err
				}
				answered, o.OK, o.Reason = true, res.Accepted, res.Failure.GetCode()
				return nil
			})
		if answered {
			break
		}
	}
	return true
}

func outcomeOf(session string, ref *pb.LeaseRef, as *pb.LeaseAssignment, token int64) *pb.ReportStepOutcomeRequest {
	return &pb.ReportStepOutcomeRequest{
		ContractVersion: "v1",
		RunnerId:        "fighter",
		SessionId:       session,
		Lease:           ref,
		Status:          pb.PlanStatus_COMPLETE,
		Extensions:      extension("turn_result", resultOf(as, "token "+strconv.FormatInt(token, 10))),
	}
}

// stepState is what the model knows about one step.
type stepState struct {
	token int64 // of the lease that holds it
	done  bool
}

// leaseModel is a step that only the newest token holds, and that is completed once, with that
// token. The passing of time (leases end) needs no event of its own: it never allows anything that
// is not allowed here. A call without an answer happened or did not.
func leaseModel() porcupine.Model {
	yes := func(s ...any) []any { return s }
	m := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			by := make(map[string][]porcupine.Operation)
			for _, o := range history {
				by[o.Input.(operation).Step] = append(by[o.Input.(operation).Step], o)
			}
			var out [][]porcupine.Operation
			for _, part := range by {
				out = append(out, part)
			}
			return out
		},
		Init: func() []any { return []any{stepState{}} },
		Step: func(state, input, _ any) []any {
			s, o := state.(stepState), input.(operation)
			switch {
			case o.Kind == "lost" && !s.done &&
				o.Got > s.token: // a runner was given the step, and the answer got lost
				return yes(s, stepState{o.Got, false})
			case o.Kind == "lost":
				return yes(s)
			case o.Kind == "acquire" && !s.done && o.Got >= s.token && o.Got > 0:
				return yes(stepState{o.Got, false})
			case o.Kind == "resume" && o.OK && !s.done && o.Token == s.token && o.Got > s.token:
				return yes(stepState{o.Got, false})
			case o.Kind == "complete" && o.OK && !s.done && o.Token == s.token:
				return yes(stepState{s.token, true})
			case o.Kind == "complete" && o.OK && s.done && o.Token == s.token: // repeated
				return yes(s)
			case o.Kind == "complete" && o.Reason == run.RejectTerminal && !s.done,
				o.Kind == "complete" && o.Reason == run.RejectStaleToken && o.Token >= s.token:
				return nil
			case (o.Kind == "complete" || o.Kind == "resume") && !o.OK:
				return yes(s)
			}
			return nil
		},
		DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
	}
	return m.ToModel()
}

func TestStaleHoldersCompleteNothing(t *testing.T) {
	testrepo.Serving(t)
	kills, runners := 20, 3
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		kills, runners = 1000, 4
	}
	dir, logs := t.TempDir(), t.TempDir()
	makeProject(t, dir)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	addr := free.Addr().String()
	must(t, free.Close())
	f := &fight{t: t, dir: dir, logs: logs, addr: addr, seed: rand.Uint64()}
	t.Logf("seed %d", f.seed)
	rng := rand.New(rand.NewPCG(f.seed, 1))
	f.server = f.child("server", "")
	t.Cleanup(f.end)
	for i := range runners {
		f.runners = append(f.runners, f.child("runner", fmt.Sprintf("r%d", i)))
	}
	for n := range kills {
		time.Sleep(time.Duration(80+rng.IntN(320)) * time.Millisecond)
		i := rng.IntN(len(f.runners))
		switch rng.IntN(5) {
		case 0: // the server dies and comes back
			f.kill(f.server)
			f.server = f.child("server", "")
		case 1, 2: // a runner dies, another takes its place
			f.kill(f.runners[i])
			f.runners[i] = f.child("runner", fmt.Sprintf("r%d-%d", i, n))
		case 3: // a runner sleeps longer than its lease
			f.pause(f.runners[i])
		case 4: // so does the server, in the middle of its work
			f.pause(f.server)
		}
	}
	// Undisturbed, the remaining runners go on: a slow machine may have got nowhere.
	for range 600 {
		data, _ := os.ReadFile(filepath.Join(dir, wire.LedgerHistory.Path()))
		if strings.Count(string(data), "\n") >= fightSteps {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.end()
	f.judge()
}

// fight holds the processes of one proof.
type fight struct {
	t               *testing.T
	dir, logs, addr string
	seed            uint64
	server          *exec.Cmd
	runners         []*exec.Cmd
}

func (f *fight) child(kind, name string) *exec.Cmd {
	f.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+kind, childDir+"="+f.dir, childAddr+"="+f.addr, childName+"="+name,
		childLog+"="+filepath.Join(f.logs, orServer(name)+".jsonl"))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its git processes die and sleep with it
	must(f.t, cmd.Start())
	return cmd
}

func orServer(name string) string {
	if name == "" {
		return "server"
	}
	return name
}

func (f *fight) kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	f.unlock()
}

// unlock removes what a killed git has left, as a person would do on the hint of ref_locked. No
// other process works on these refs when the server is dead.
func (f *fight) unlock() {
	if f.server != nil && f.server.ProcessState == nil {
		return
	}
	_ = filepath.WalkDir(filepath.Join(f.dir, ".git", "refs", "agentxchain"),
		func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".lock") {
				_ = os.Remove(path)
			}
			return nil
		})
	for _, name := range []string{"packed-refs.lock", "index.lock", "HEAD.lock"} {
		_ = os.Remove(filepath.Join(f.dir, ".git", name))
	}
}

func (f *fight) pause(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP)
	time.Sleep(fightPause)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
}

func (f *fight) end() {
	for _, cmd := range append([]*exec.Cmd{f.server}, f.runners...) {
		if cmd != nil && cmd.ProcessState == nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
		}
	}
	f.unlock()
}

// judge checks the runners' answers against the model, and against the run.
func (f *fight) judge() {
	t := f.t
	ctx := context.Background()
	r, err := runner.Open(ctx, f.dir, runner.Options{})
	must(t, err)
	defer func() { _ = r.Close() }()
	_, err = r.ExpireLeases(ctx) // and what was killed halfway is completed
	must(t, err)
	rows, err := r.Record().TailRows(ctx, wire.LedgerHistory, 0, func(o *ojson.Object) bool {
		return o.String("status") != "reissued"
	})
	must(t, err)
	accepted := make(map[string]int64)
	for _, row := range rows {
		id := row.Row.String("turn_id")
		if _, twice := accepted[id]; twice {
			t.Errorf("step %s is completed twice", id)
		}
		token, err := strconv.ParseInt(strings.TrimPrefix(row.Row.String("summary"), "token "), 10, 64)
		must(t, err)
		accepted[id] = token
	}
	issued, err := r.Record().TailRows(ctx, wire.LedgerEvents, 0, func(o *ojson.Object) bool {
		a := o.Object("payload").String("action")
		return o.String("event_type") == run.EventLease &&
			(a == leases.ActIssued || a == leases.ActRestored)
	})
	must(t, err)
	history := f.history(accepted, issued)
	completed, refused := 0, make(map[string]int)
	for _, o := range history {
		out := o.Output.(operation)
		switch {
		case out.Kind != "complete" || !out.Done:
		case out.OK:
			completed++
			if accepted[out.Step] != out.Token {
				t.Errorf("step %s was completed with token %d, the run holds the result of %d", out.Step, out.Token,
					accepted[out.Step])
			}
		default:
			refused[out.Reason]++
		}
	}
	result, info := porcupine.CheckOperationsVerbose(leaseModel(), history, time.Minute)
	if result != porcupine.Ok {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("leases-%d.html", f.seed))
		_ = porcupine.VisualizePath(leaseModel(), info, path)
		t.Errorf("the history is not linearizable (%s); see %s", result, path)
	}
	t.Logf("%d operations, %d steps on record, %d completions answered, refused: %v", len(history), len(accepted),
		completed, refused)
	if len(accepted) < fightSteps {
		t.Errorf("only %d steps were completed: the proof says nothing", len(accepted))
	}
	report, err := r.Record().Fsck(ctx, proof.Options{Replay: true})
	must(t, err)
	if !report.Clean() {
		t.Errorf("fsck: %+v", report.Findings)
	}
}

// history pairs the lines of the logs. A completion without an answer happened if the run has its
// result; it may have taken effect at any time after its request.
func (f *fight) history(accepted map[string]int64, issued []run.Line) []porcupine.Operation {
	t := f.t
	files, err := filepath.Glob(filepath.Join(f.logs, "r*.jsonl"))
	must(t, err)
	var out []porcupine.Operation
	end := time.Now().UnixNano() + 1
	answered := make(map[string]bool) // step and token of completions that were answered with yes
	var open []operation
	client := 0
	for _, path := range files {
		file, err := os.Open(path)
		must(t, err)
		begun := make(map[int]operation)
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var o operation
			if json.Unmarshal(lines.Bytes(), &o) != nil {
				continue // the last line of a killed runner
			}
			if !o.Done {
				begun[o.N] = o
				continue
			}
			b, ok := begun[o.N]
			if !ok {
				t.Errorf("an answer without a question: %+v", o)
				continue
			}
			delete(begun, o.N)
			if o.Kind == "acquire" && !o.OK {
				continue
			}
			if o.Kind == "complete" && o.OK {
				answered[fmt.Sprint(o.Step, o.Token)] = true
			}
			out = append(out, porcupine.Operation{ClientId: client, Input: o, Output: o, Call: b.At, Return: o.At})
		}
		_ = file.Close()
		for _, o := range begun {
			open = append(open, o)
		}
		client++
	}
	for _, o := range open {
		if key := fmt.Sprint(o.Step, o.Token); o.Kind == "complete" && accepted[o.Step] == o.Token && !answered[key] {
			answered[key] = true
			done := o
			done.Done, done.OK = true, true
			out = append(out, porcupine.Operation{
				ClientId: client,
				Input:    done,
				Output:   done,
				Call:     o.At,
				Return:   end,
			})
			client++
		}
	}
	// Recorded tokens that no runner received: of calls without an answer. A runner that asks again gets the lease of
	// its earlier call.
	told := make(map[int64]bool)
	first := end
	for _, o := range out {
		if got := o.Input.(operation).Got; time.UnixMilli(got+1).UnixNano() > o.Call {
			told[got] = true
		}
		first = min(first, o.Call)
	}
	for _, row := range issued {
		l := row.Row.Object("payload").Object("lease")
		at, _ := l.Object("fencing_token").Int("issued_at_ms")
		if !told[int64(at)] {
			lost := operation{Kind: "lost", Step: l.String("step_id"), Got: int64(at)}
			out = append(out, porcupine.Operation{
				ClientId: client,
				Input:    lost,
				Output:   lost,
				Call:     first,
				Return:   end,
			})
			client++
		}
	}
	return out
}
