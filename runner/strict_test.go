// Machines whose remote decides (agentxchain.sync=strict): one machine that does one thing after
// another could have given the same answers.

package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// strictEnv makes the test binary a process that does one thing in a clone.
const strictEnv = "AGENTXCHAIN_TEST_STRICT"

// strictAct is one request and its answer.
type strictAct struct {
	Kind string // assign, accept, reject, escalate, unblock, read
	Who  string // name under which it would be recorded
	Turn string
	Code string // ok, or the code of the refusal; "" when there was no answer
	Run  strictRun
}

// strictRun is the state of a run, as far as the model knows.
type strictRun struct {
	Turn     string // the active one, "" for none
	Attempt  int
	Accepted int
	Blocked  bool
}

// actStrictly does one thing and prints the answer.
func actStrictly(dir string) int {
	ctx := context.Background()
	kind := os.Getenv("AGENTXCHAIN_TEST_OP")
	r, err := runner.Open(ctx, dir, runner.Options{Terminal: true})
	if err != nil {
		fmt.Println("no", runner.ErrorCode(err), err)
		return 1
	}
	defer func() { _ = r.Close() }()
	turn := ""
	v, err := r.View(ctx)
	if err == nil && kind != "read" && kind != "assign" && v.State.OnlyTurn() != nil {
		turn = v.State.OnlyTurn().TurnID
		fmt.Println("about", turn)
	}
	switch kind {
	case "assign":
		var out *runner.Assigned
		if out, err = r.AssignTurn(ctx, runner.AssignOptions{Role: "dev"}); err == nil {
			turn = out.Turn.TurnID
		}
	case "accept", "reject":
		if turn == "" {
			fmt.Println("nothing")
			return 0
		}
		if kind == "reject" {
			_, err = r.RejectTurn(ctx, runner.RejectOptions{TurnID: turn, Reason: "again"})
		} else if err = stageStrictly(ctx, r, dir, turn); err == nil {
			_, err = r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: turn})
		}
	case "escalate":
		_, err = r.Escalate(ctx, protocol.Escalate{Reason: "look"})
	case "unblock":
		_, err = r.ReactivateRun(ctx, runner.ReactivateOptions{Reason: "looked at"})
	case "read":
		if _, err = r.Sync(ctx, runner.SyncOptions{}); err == nil {
			v, err = r.View(ctx)
		}
		if err == nil {
			now := strictRun{Accepted: v.Index.Accepted, Blocked: v.State.Status == wire.StatusBlocked, Turn: "-"}
			if t := v.State.OnlyTurn(); t != nil {
				now.Turn, now.Attempt = t.TurnID, t.Attempt
			}
			fmt.Println("read", now.Turn, now.Attempt, now.Accepted, now.Blocked)
		}
	}
	if err != nil {
		fmt.Println("no", runner.ErrorCode(err), err)
		return 1
	}
	fmt.Println("ok", turn)
	return 0
}

func stageStrictly(ctx context.Context, r *runner.Runner, dir, turn string) error {
	doc, err := r.Template(ctx, turn)
	if err != nil {
		return err
	}
	doc = doc.Clone()
	members := ojson.NewObject("summary", "work of "+os.Getenv("GIT_AUTHOR_NAME"), "proposed_next_role", "dev",
		"objections", []any{}, "decisions", []any{}, "files_changed", []any{},
		"artifact", ojson.NewObject("type", "review"), "verification", ojson.NewObject("status", "skipped"))
	for k, v := range members.All() {
		doc.Set(k, v)
	}
	file := filepath.Join(dir, filepath.FromSlash(wire.StagingPath(turn)))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, ojson.Pretty(doc), 0o666)
}

// strictModel returns the model of a run with one turn at a time.
func strictModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return strictRun{} },
		Step: func(state, input, _ any) (bool, any) {
			s, a := state.(strictRun), input.(strictAct)
			if a.Code != "ok" {
				return a.refusable(s), s
			}
			switch a.Kind {
			case "assign":
				return s.Turn == "" && !s.Blocked, strictRun{a.Turn, 1, s.Accepted, false}
			case "accept":
				return s.Turn == a.Turn, strictRun{"", 0, s.Accepted + 1, s.Blocked}
			case "reject":
				return s.Turn == a.Turn, strictRun{s.Turn, s.Attempt + 1, s.Accepted, s.Blocked}
			case "escalate":
				return true, strictRun{s.Turn, s.Attempt, s.Accepted, true}
			case "unblock":
				return s.Blocked, strictRun{s.Turn, s.Attempt, s.Accepted, false}
			}
			return a.Run == s, s // read
		},
		DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
	}
}

// refusable reports whether the refusal can be the answer in that state of the run.
func (a *strictAct) refusable(s strictRun) bool {
	switch a.Code {
	case wire.CodeTurnAlreadyAccepted, wire.CodeTurnNotActive:
		return s.Turn != a.Turn
	case wire.CodeRunBlocked:
		return s.Blocked
	case wire.CodeInvalidStateTransition:
		return a.Kind == "unblock" && !s.Blocked || a.Kind == "escalate" && s.Blocked
	}
	return true // caused by the server
}

// TestStrictMachinesAreOne makes machines in strict mode do things at the same time, while their
// processes die and the server dies, refuses, or takes a push without saying so.
func TestStrictMachinesAreOne(t *testing.T) {
	testrepo.Serving(t)
	if runtime.GOOS == "windows" {
		t.Skip("the server's hooks are shell scripts")
	}
	machines, acts := 3, 5
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		machines, acts = 5, 120
	}
	f := newStrictField(t, machines)
	over := make(chan struct{})
	var chaos, work sync.WaitGroup
	chaos.Go(func() { f.troubleServer(over) })
	for i := range machines {
		work.Go(func() { f.work(i, acts) })
	}
	work.Wait()
	close(over)
	chaos.Wait()
	f.judge()
}

type strictField struct {
	t     *testing.T
	seed  uint64
	root  string
	dirs  []string
	begun time.Time

	mu      sync.Mutex
	history []porcupine.Operation
	open    []porcupine.Operation // without an answer
	count   map[string]int
}

func (f *strictField) server() string { return filepath.Join(f.root, "server.git") }

func newStrictField(t *testing.T, machines int) *strictField {
	base := newDepot(t, func(cfg *ojson.Object) {
		onePhase(cfg)
		cfg.Object("rules").Set("max_turn_retries", 1000)
	})
	f := &strictField{t: t, seed: rand.Uint64(), root: t.TempDir(), begun: time.Now(), count: make(map[string]int)}
	t.Logf("seed %d", f.seed)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.CopyFS(f.server(), os.DirFS(filepath.Join(base.dir, "server.git"))))
	must(os.MkdirAll(filepath.Join(f.server(), "hooks"), 0o777))
	for i := range machines {
		dir := filepath.Join(f.root, fmt.Sprint("m", i))
		must(os.CopyFS(dir, os.DirFS(filepath.Join(base.dir, "machine"))))
		conf := filepath.Join(dir, ".git", "config")
		data, err := os.ReadFile(conf)
		must(err)
		text := strings.Replace(string(data), filepath.Join(base.dir, "server.git"), f.server(), 1)
		must(os.WriteFile(conf, []byte(text+"[agentxchain]\n\tsync = strict\n"), 0o666))
		f.dirs = append(f.dirs, dir)
	}
	f.act(0, 0, "assign", "")
	if f.history[0].Input.(strictAct).Code != "ok" {
		t.Fatalf("the run does not begin: %+v", f.history[0].Input)
	}
	return f
}

// act makes a process do one thing, and notes the request and its answer.
func (f *strictField) act(machine, n int, kind, fault string) {
	a := strictAct{Kind: kind, Who: fmt.Sprintf("m%d-%d", machine, n)}
	self, err := os.Executable()
	if err != nil {
		f.t.Error(err)
		return
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), strictEnv+"="+f.dirs[machine], "AGENTXCHAIN_TEST_OP="+kind,
		"AGENTXCHAIN_FAULT="+fault, "GIT_AUTHOR_NAME="+a.Who, "GIT_AUTHOR_EMAIL="+a.Who+"@example.org")
	begin := time.Since(f.begun).Nanoseconds()
	out, _ := cmd.Output()
	end := time.Since(f.begun).Nanoseconds()
	detail := ""
	for line := range strings.Lines(string(out)) {
		w := strings.Fields(line)
		switch {
		case len(w) > 1 && w[0] == "about":
			a.Turn = w[1]
		case len(w) > 0 && w[0] == "nothing":
			return
		case len(w) > 1 && w[0] == "no":
			a.Code, detail = w[1], line
		case len(w) > 0 && w[0] == "ok":
			a.Code = "ok"
			if len(w) > 1 {
				a.Turn = w[1]
			}
		case len(w) == 5 && w[0] == "read":
			a.Run.Turn = strings.TrimPrefix(w[1], "-")
			_, _ = fmt.Sscan(w[2], &a.Run.Attempt)
			_, _ = fmt.Sscan(w[3], &a.Run.Accepted)
			a.Run.Blocked = w[4] == "true"
		}
	}
	switch a.Code {
	case "", wire.CodeInvalidState, record.CodeStateTampered, record.CodeUnproven, fail.CodeWorkBehind,
		fail.CodeGitFailed, transport.CodeRemoteBack, transport.CodeRemoteForked, chain.CodeNoRun:
		if fault == "" {
			f.t.Errorf("%s %s: %s%s", a.Who, kind, out, detail)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count[kind+" "+a.Code]++
	o := porcupine.Operation{ClientId: machine, Input: a, Call: begin, Return: end}
	if a.Code == "" || a.Code == transport.CodeRemoteFailed {
		f.open = append(f.open, o)
		return
	}
	f.history = append(f.history, o)
}

// work does the acts of one machine.
func (f *strictField) work(machine, acts int) {
	d := rand.New(rand.NewPCG(f.seed, uint64(machine)))
	for n := range acts {
		kind := pickOne(d, "assign", "assign", "assign", "accept", "accept", "accept", "accept",
			"reject", "escalate", "unblock", "unblock", "read", "read")
		fault := ""
		if d.IntN(4) == 0 {
			fault = fmt.Sprintf("%s:%d", pickOne(d, "refs.update.before", "refs.update.after", "commit.before-ref",
				"commit.after-ref", "commit.after-documents", "durable.write.after"), 1+d.IntN(4))
		}
		f.act(machine, n+1, kind, fault)
	}
}

// troubleServer makes the server fail and recover in turn.
func (f *strictField) troubleServer(over chan struct{}) {
	d := rand.New(rand.NewPCG(f.seed, 1<<32))
	wrong := ""
	pause := func(most int) bool {
		select {
		case <-over:
		case <-time.After(time.Duration(d.IntN(most)) * time.Millisecond):
			return true
		}
		return false
	}
	for pause(900) {
		name, text := "pre-receive", hookDies
		switch d.IntN(4) {
		case 0:
			name, text = "reference-transaction", hookMute // it has the push, and does not say so
		case 1:
			name, text = "update", hookNo
		case 2:
			text = "#!/bin/sh\nsleep 0.2\n"
		}
		wrong = filepath.Join(f.server(), "hooks", name)
		// Never half a program: it is written to a second file and renamed.
		if os.WriteFile(wrong+".new", []byte(text), 0o777) != nil || os.Rename(wrong+".new", wrong) != nil {
			f.t.Error("the hook was not written")
		}
		more := pause(500)
		_ = os.Remove(wrong)
		if !more {
			return
		}
	}
}

// judge brings the machines together and compares their answers with the record.
func (f *strictField) judge() {
	t, ctx := f.t, context.Background()
	for i, dir := range f.dirs {
		r, err := runner.Open(ctx, dir, runner.Options{})
		if err == nil {
			_, err = r.Sync(ctx, runner.SyncOptions{})
		}
		if err != nil {
			t.Fatalf("m%d: %v", i, err)
		}
		report, err := r.Record().Fsck(ctx, proof.Options{Replay: true, Run: "*"})
		if err != nil || !report.Clean() {
			t.Errorf("m%d: fsck: %v %+v", i, err, report)
		}
		if all, err := r.Conflicts(ctx); err != nil || len(all) > 0 {
			t.Errorf("m%d: conflicts in strict mode: %v %+v", i, err, all)
		}
		_ = r.Close()
	}
	sh := func(dir string, args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	const format = "--format=%an%x1f%(trailers:key=Agentxchain-Op,valueonly,separator=)" +
		"%x1f%(trailers:key=Agentxchain-Turn,valueonly,separator=)"
	recorded := make(map[string]string) // name -> turn of what it recorded
	for line := range strings.Lines(sh(f.server(), "log", format, "--glob=refs/agentxchain/runs")) {
		w := strings.Split(strings.TrimSpace(line), "\x1f")
		if w[1] == "init_run" {
			continue
		}
		if _, twice := recorded[w[0]]; twice {
			t.Errorf("%s asked for one thing, and two are recorded", w[0])
		}
		recorded[w[0]] = w[2]
	}
	want := sh(f.server(), "for-each-ref", git.RunRefPrefix)
	for i, dir := range f.dirs {
		if got := sh(dir, "for-each-ref", git.RunRefPrefix); got != want {
			t.Errorf("m%d has other records:\n%s\n%s", i, got, want)
		}
	}
	end := time.Since(f.begun).Nanoseconds()
	for _, o := range f.history {
		a := o.Input.(strictAct)
		_, is := recorded[a.Who]
		if should := a.Code == "ok" && a.Kind != "read"; is != should {
			t.Errorf("%s was told %s of %s; recorded: %v", a.Who, a.Code, a.Kind, is)
		}
	}
	// An unanswered request happened if it is recorded, at any time since it was made.
	for _, o := range f.open {
		a := o.Input.(strictAct)
		if turn, is := recorded[a.Who]; is {
			f.count["unanswered, and done"]++
			a.Code = "ok"
			if a.Kind == "assign" {
				a.Turn = turn
			}
			o.Input, o.Return = a, end
			f.history = append(f.history, o)
		}
	}
	result, info := porcupine.CheckOperationsVerbose(strictModel(), f.history, time.Minute)
	if result != porcupine.Ok {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("strict-%d.html", f.seed))
		_ = porcupine.VisualizePath(strictModel(), info, path)
		t.Errorf("the history is not linearizable (%s); see %s", result, path)
		for _, o := range f.history {
			t.Logf("%8d %8d %+v", o.Call/1000, o.Return/1000, o.Input)
		}
		t.Log(sh(f.server(), "log", format, "--glob=refs/agentxchain/runs"))
	}
	t.Logf("%d acts, %d recorded: %v", len(f.history), len(recorded), f.count)
}

// A server that dies after it recorded an operation and before it says so has recorded it; one that dies
// earlier has not.
func TestStrictAnswerThatGotLost(t *testing.T) {
	testrepo.Serving(t)
	if runtime.GOOS == "windows" {
		t.Skip("the server's hooks are shell scripts")
	}
	a, b := twoMachines(t, 0)
	server := filepath.Join(filepath.Dir(b.p.dir), "server.git")
	config := exec.Command("git", "config", "agentxchain.sync", "strict")
	config.Dir = a.p.dir
	a.p.must(config.Run())
	for hook, code := range map[string]string{"pre-receive": transport.CodeRemoteFailed, "reference-transaction": ""} {
		before := a.p.op()
		a.p.must(os.MkdirAll(filepath.Join(server, "hooks"), 0o777))
		text := hookDies
		if code == "" {
			text = hookMute
		}
		a.p.must(os.WriteFile(filepath.Join(server, "hooks", hook), []byte(text), 0o777))
		_, err := a.p.r.SendMessage(a.p.ctx, mail.SendMessage{
			From: "human", To: a.turn().TurnID, Kind: "blocker", Subject: hook,
		})
		a.p.must(os.Remove(filepath.Join(server, "hooks", hook)))
		if got := runner.ErrorCode(err); got != code {
			t.Fatalf("%s: got %q (%v), want %q", hook, got, err, code)
		}
		if moved := a.p.op() != before; moved != (code == "") {
			t.Errorf("%s: recorded here: %v", hook, moved)
		}
		there := exec.Command("git", "rev-parse", "--verify", git.RunRefPrefix+a.runID())
		there.Dir = server
		if out, err := there.Output(); err != nil || strings.TrimSpace(string(out)) != string(a.p.op()) {
			t.Errorf("%s: the server is at %s, %v; here is %s", hook, out, err, a.p.op())
		}
	}
}

func (m *machine) runID() string {
	m.t.Helper()
	v, err := m.p.r.View(m.p.ctx)
	m.p.must(err)
	return v.Run
}
