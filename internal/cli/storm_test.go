// Git's housekeeping without pause beside governed runs whose commands are killed at random: what a command has
// reported as recorded stays, once, in an order that one machine could have produced.

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// person is the content of a person's own files.
const person = "of a person\n"

// stormOps is how many operations the long form records; AGENTXCHAIN_SURVIVE_OPS overrides it.
const stormOps = 20000

// housekeeping lists commands that remove objects that no ref reaches, or move them elsewhere. Each
// row is run over and over, in parallel with the other.
var housekeeping = [][][]string{
	{{"repack", "-adq"}, {"multi-pack-index", "write"}, {"gc", "-q", "--prune=now"},
		{"repack", "-dq", "--cruft", "--cruft-expiration=now"},
		{"maintenance", "run", "--quiet", "--task=loose-objects", "--task=incremental-repack", "--task=commit-graph",
			"--task=pack-refs"},
		{"repack", "-dq", "--geometric=2"}},
	{{"prune", "--expire=now"}, {"pack-refs", "--all"}, {"prune", "--expire=now"}, {"prune-packed", "-q"}},
}

// storm is one repository with three work trees. The first two share a run, the third
// has one of its own.
type storm struct {
	t     *testing.T
	trees []string
	back  map[string]*sync.RWMutex // work tree -> held while a rejected result is not staged again
	begun time.Time
	over  atomic.Bool // the workers have ended

	mu      sync.Mutex
	draw    *rand.Rand
	kills   int                 // one command in so many is killed, 0 for none
	killed  int                 // how many of them were
	lines   map[string][]string // role -> what it has written to its file
	said    []saidOp
	commits map[string][]string // work tree -> commits that were reported
	retries map[string]int      // code -> how often a command was told to try again
	count   map[string]int      // command -> how often it succeeded
}

// saidOp is an operation that a command reported as recorded.
type saidOp struct {
	run, op, turn, command string
	worker                 int
	call, end              int64 // nanoseconds since the beginning
}

// errKilled says that a command was killed: it may have done its work or not.
var errKilled = errors.New("killed")

func (s *storm) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// Exit statuses after which the same command may be tried again.
const (
	conflict = 4
	locked   = 11
)

// later lists refusals that end when a turn beside this one does.
var later = []string{wire.CodeAtCapacity, wire.CodeDirtyTree, wire.CodeCheckpointRequired}

// answer is what a command reports about itself.
type answer struct {
	OK     bool
	Run    string `json:"run_id"`
	Op     string
	Turn   string `json:"turn_id"`
	Commit string
	Error  struct{ Code, Message string }
	State  struct {
		Active map[string]struct {
			Role string `json:"assigned_role"`
		} `json:"active_turns"`
	}
}

// do runs a command until it is not told to try again, and notes what it acknowledged. Now and then it kills
// the command.
func (s *storm) do(worker int, dir string, args ...string) (*answer, error) {
	for !s.t.Failed() { // others may wait for the turn of one that gave up
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("git-agentxchain", append(slices.Clone(args), "--json")...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
		s.mu.Lock()
		kill := s.kills > 0 && s.draw.IntN(s.kills) == 0
		after := time.Duration(s.draw.IntN(150)) * time.Millisecond
		s.mu.Unlock()
		call := time.Since(s.begun).Nanoseconds()
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		if kill {
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		err := cmd.Wait()
		end := time.Since(s.begun).Nanoseconds()
		status := cmd.ProcessState.ExitCode()
		a := &answer{}
		if kill && status < 0 {
			s.mu.Lock()
			s.killed++
			s.mu.Unlock()
			return nil, errKilled
		}
		if status >= 0 {
			err = json.Unmarshal(stdout.Bytes(), a)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s%s", args, err, stdout.Bytes(), stderr.Bytes())
		}
		s.mu.Lock()
		switch {
		case status == 0:
			s.count[args[0]]++
			if a.Op != "" {
				s.said = append(s.said, saidOp{a.Run, a.Op, a.Turn, args[0], worker, call, end})
			}
			if a.Commit != "" {
				s.commits[dir] = append(s.commits[dir], a.Commit)
			}
		case status == conflict || status == locked || slices.Contains(later, a.Error.Code):
			s.retries[a.Error.Code]++
		default:
			err = fmt.Errorf("%s ended with %d: %s %s", args, status, a.Error.Code, a.Error.Message)
		}
		s.mu.Unlock()
		if status == 0 || err != nil {
			return a, err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s was given up after another failure", args)
}

// atWork returns the active turn of a role, "" when it has none.
func (s *storm) atWork(worker int, dir, role string) (string, error) {
	for {
		a, err := s.do(worker, dir, "status")
		if errors.Is(err, errKilled) {
			continue
		}
		if err != nil {
			return "", err
		}
		for id, turn := range a.State.Active {
			if turn.Role == role {
				return id, nil
			}
		}
		return "", nil
	}
}

// turn carries out one turn of a role: it assigns the turn, declares and writes its file, sometimes sends it back,
// accepts it and commits it.
func (s *storm) turn(worker int, dir, role string, assign ...string) error {
	id := ""
	for id == "" {
		a, err := s.do(worker, dir, assign...)
		switch {
		case err == nil:
			id = a.Turn
		case a != nil && a.Error.Code == wire.CodeRoleActive:
			// The git of a killed command went on, and moved the ref after atWork had looked.
			if id, err = s.atWork(worker, dir, role); err != nil {
				return err
			}
		case !errors.Is(err, errKilled):
			return err
		default:
			if id, err = s.atWork(worker, dir, role); err != nil {
				return err
			}
		}
	}
	file := "work-" + role + ".txt"
	takes := 0
	stage := func() error {
		takes++ // a result with the bytes of a rejected one may be taken for that one
		text, err := exec.Command("git-agentxchain", "-C", dir, "turn", "show", id, "--template").Output()
		if err != nil {
			return fmt.Errorf("the template of %s: %w", id, err)
		}
		doc, err := ojson.DecodeObject(text)
		if err != nil {
			return err
		}
		for _, kv := range [][2]any{{"summary", fmt.Sprintf("a line of %s, take %d", role, takes)},
			{"decisions", []any{}}, {"files_changed", []string{file}}, {"proposed_next_role", "human"},
			{"verification", ojson.NewObject("status", "skipped", "commands", []any{},
				"evidence_summary", "nothing to run", "machine_evidence", []any{})}} {
			doc.Set(kv[0].(string), kv[1])
		}
		name := filepath.Join(dir, filepath.FromSlash(wire.StagingPath(id)))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		return os.WriteFile(name, ojson.Pretty(doc), 0o666)
	}
	// Declared before it exists, as others are judged in the same work tree.
	if err := stage(); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, id)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.lines[role] = append(s.lines[role], id+"\n")
	back := s.draw.IntN(6) == 0
	s.mu.Unlock()
	if back {
		// In between no turn answers for the file, and a result beside it would rightly be refused.
		s.back[dir].Lock()
		_, err := s.do(worker, dir, "reject", id, "--reason", "once more")
		if err == nil || errors.Is(err, errKilled) {
			err = stage()
		}
		s.back[dir].Unlock()
		if err != nil {
			return err
		}
	}
	for {
		s.back[dir].RLock()
		_, err := s.do(worker, dir, "accept", id)
		s.back[dir].RUnlock()
		if err == nil {
			break
		}
		if !errors.Is(err, errKilled) {
			return err
		}
		if left, err := s.atWork(worker, dir, role); err != nil {
			return err
		} else if left == "" {
			break
		}
	}
	for {
		if _, err := s.do(worker, dir, "checkpoint", id); !errors.Is(err, errKilled) {
			return err
		}
	}
}

// newStorm makes the repository, a person's files in each of its work trees, and the two runs.
func newStorm(t *testing.T, workers int) *storm {
	t.Helper()
	for _, kv := range [][2]string{{"GIT_CONFIG_GLOBAL", os.DevNull}, {"GIT_CONFIG_SYSTEM", os.DevNull},
		{"AGENTXCHAIN_TURN_ID", ""},
		{"GIT_AUTHOR_NAME", "Ada"}, {"GIT_AUTHOR_EMAIL", "ada@example.org"}, {"GIT_COMMITTER_NAME", "Ada"},
		{"GIT_COMMITTER_EMAIL", "ada@example.org"}} {
		t.Setenv(kv[0], kv[1])
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	seed := surviveSeed(t)
	s := &storm{
		t:       t,
		begun:   time.Now(),
		draw:    rand.New(rand.NewPCG(seed, 2)),
		back:    map[string]*sync.RWMutex{},
		lines:   map[string][]string{},
		commits: map[string][]string{},
		retries: map[string]int{},
		count:   map[string]int{},
	}
	roles, routed := ojson.NewObject(), []string{"human"}
	for _, id := range roleNames[:workers] {
		roles.Set(id, ojson.NewObject("title", id, "mandate", "Do "+id+".", "write_authority", "authoritative",
			"runtime", "manual"))
		routed = append(routed, id)
	}
	routing := ojson.NewObject("build",
		ojson.NewObject("entry_role", "a", "allowed_next_roles", routed, "max_concurrent_turns", 4))
	main := filepath.Join(base, "main")
	if err := scriptProject(
		[]string{main, "roles=" + string(ojson.Compact(roles)), `runtimes={"manual":{"type":"manual"}}`,
			"routing=" + string(ojson.Compact(routing)), "gates={}", "prompts={}", "workflow_kit={}",
			"approval_policy=",
			"policies=", "budget=",
			"rules.challenge_required=false", "rules.max_turn_retries=9"}); err != nil {
		t.Fatal(err)
	}
	write(t, main, ".git/info/exclude", "ignored.txt\n")
	s.trees = []string{main}
	for _, name := range []string{"second", "third"} {
		dir := filepath.Join(base, name)
		s.git(main, "worktree", "add", "-q", dir, "-b", name)
		s.trees = append(s.trees, dir)
	}
	for i, dir := range s.trees {
		s.back[dir] = new(sync.RWMutex)
		write(t, dir, "mine/ignored.txt", person)
		write(t, dir, "mine/tracked.txt", person)
		s.git(dir, "add", "mine/tracked.txt")
		s.git(dir, "commit", "-q", "-m", "of a person")
		// The first commands of each run, before the storm.
		switch i {
		case 0:
			err = s.turn(0, dir, "a", "assign", "a")
		case 1:
			_, err = s.do(0, dir, "repair", "--from-ref", s.said[0].run)
		case 2:
			err = s.turn(0, dir, "c", "assign", "c", "--new-run")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// roleNames lists the roles of the workers; each worker has its own, and they take turns in the work trees.
var roleNames = strings.Split("abcdefghijklmnop", "")

// TestStormOfMaintenance makes workers take turns in three work trees, two of which share a run, while commands are
// killed at random and git's housekeeping, set to remove at once everything that no ref reaches, runs without pause.
func TestStormOfMaintenance(t *testing.T) {
	testrepo.Thorough(t)
	workers, ops := 6, 0
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		workers, ops = len(roleNames), stormOps
	}
	ops = surviveOps(t, ops)
	s := newStorm(t, workers)
	s.kills = 6
	goOn := func(n int) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return n < 1 || len(s.said) < ops
	}
	var keepers, at sync.WaitGroup
	var ran, failed atomic.Int64
	for _, commands := range housekeeping {
		keepers.Go(func() {
			for n := 0; !s.over.Load(); n++ {
				args := commands[n%len(commands)]
				// A command that meets another, or a lock, may give up.
				cmd := exec.Command("git", append([]string{"-C", s.trees[n%len(s.trees)]}, args...)...)
				if cmd.Run() != nil {
					failed.Add(1)
				}
				ran.Add(1)
			}
		})
	}
	for i, role := range roleNames[:workers] {
		at.Go(func() {
			for n := 0; goOn(n); n++ {
				if err := s.turn(i, s.trees[i%len(s.trees)], role, "assign", role); err != nil {
					if !t.Failed() {
						s.stand(err)
					}
					t.Error(err)
					return
				}
			}
		})
	}
	at.Wait()
	s.over.Store(true)
	keepers.Wait()
	t.Logf("%d commands of housekeeping, %d of them gave up; %d operations acknowledged, %d commands killed; ended well: %v; told to try again: %v",
		ran.Load(), failed.Load(), len(s.said), s.killed, s.count, s.retries)
	s.kills = 0
	s.settled(workers)
}

// stand reports the state of the repository at the first failure, and keeps a copy of it where
// AGENTXCHAIN_SURVIVE_KEEP names a directory: housekeeping goes on, and no other run is like this one.
func (s *storm) stand(failure error) {
	if keep := os.Getenv("AGENTXCHAIN_SURVIVE_KEEP"); keep != "" {
		out, err := exec.Command("cp", "-a", filepath.Dir(s.trees[0]), keep).CombinedOutput()
		s.t.Logf("kept in %s: %v %s", keep, err, out)
	}
	s.t.Logf("first failure: %v", failure)
	for _, dir := range s.trees {
		for _, args := range [][]string{{"rev-parse", "HEAD"}, {"reflog", "-5"},
			{"fsck", "--connectivity-only", "--no-dangling"}} {
			out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
			s.t.Logf("%s: git %s: %v\n%.4000s", dir, strings.Join(args, " "), err, out)
		}
	}
}

// stormOp is a command's answer, to be compared with the run: the place of the operation in its chain.
type stormOp struct {
	run, what string
	at        int
	made      bool // the command made it; else it is what the command saw last
}

// stormModel is a run as one machine would have it: a chain of operations, which the engine has replayed. Between two
// acknowledged ones there may be others, of commands that were killed.
func stormModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			by := make(map[string][]porcupine.Operation)
			for _, o := range history {
				run := o.Input.(stormOp).run
				by[run] = append(by[run], o)
			}
			return slices.Collect(maps.Values(by))
		},
		Init: func() any { return -1 },
		Step: func(state, input, _ any) (bool, any) {
			at, o := state.(int), input.(stormOp)
			return o.at > at || o.at == at && !o.made, o.at
		},
		DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
	}
}

// made maps commands to the wire names of what they record.
var made = map[string]string{
	"assign":     "assign_turn",
	"accept":     "accept_turn",
	"reject":     "reject_turn",
	"checkpoint": "checkpoint_turn",
}

// linear checks what was acknowledged against the chains: each is there once, in an order that real time
// allows.
func (s *storm) linear() {
	t := s.t
	type row struct {
		at       int
		op, turn string
	}
	chain := make(map[string]map[string]row)
	var history []porcupine.Operation
	for _, o := range s.said {
		if chain[o.run] == nil {
			chain[o.run] = make(map[string]row)
			const format = "--format=%H %(trailers:key=Agentxchain-Op,valueonly,separator=) %(trailers:key=Agentxchain-Turn,valueonly,separator=)"
			for line := range strings.Lines(
				s.git(s.trees[0], "log", "--reverse", format, "refs/agentxchain/runs/"+o.run)) {
				w := append(strings.Fields(line), "", "")
				chain[o.run][w[0]] = row{len(chain[o.run]), w[1], w[2]}
			}
		}
		r, ok := chain[o.run][o.op]
		if !ok {
			t.Errorf("operation %s of %s was acknowledged and is not in its chain", o.op, o.run)
			continue
		}
		in := stormOp{
			run:  o.run,
			what: o.command + " " + o.turn,
			at:   r.at,
			made: r.op == made[o.command] && r.turn == o.turn,
		}
		history = append(history, porcupine.Operation{ClientId: o.worker, Input: in, Call: o.call, Return: o.end})
	}
	// An operation that a repeated command saw again was not made twice.
	first := make(map[string]bool)
	for i := range history {
		in := history[i].Input.(stormOp)
		if key := fmt.Sprint(in.run, in.at); in.made && first[key] {
			in.made = false
			history[i].Input = in
		} else if in.made {
			first[key] = true
		}
	}
	result, info := porcupine.CheckOperationsVerbose(stormModel(), history, time.Minute)
	if result != porcupine.Ok {
		path := filepath.Join(os.TempDir(), "storm.html")
		_ = porcupine.VisualizePath(stormModel(), info, path)
		t.Errorf("the history is not linearizable (%s); see %s", result, path)
	}
}

// settled checks what must hold when all is quiet again.
func (s *storm) settled(workers int) {
	t := s.t
	// A work tree may be behind the run it shares, and the command killed last has left something: the next command
	// fixes both.
	for _, dir := range s.trees {
		s.git(dir, "agentxchain", "doctor", "--fix")
	}
	common := filepath.Join(s.trees[0], ".git")
	var left []string
	err := filepath.WalkDir(common, func(p string, e fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(p, ".lock") || strings.HasSuffix(p, ".keep")) {
			left = append(left, p)
		}
		return err
	})
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	out, err := exec.Command("git", "-C", s.trees[0], "fsck", "--full", "--strict", "--no-dangling").CombinedOutput()
	lost := 0
	for line := range strings.Lines(string(out)) {
		// Git writes a reflog before it moves the ref. When it is killed in between, beside a prune that had looked
		// before, it leaves a row of a commit that is gone and that no command has acknowledged; linear and the loop
		// below check the others.
		if strings.Contains(line, ": invalid reflog entry ") {
			lost++
			continue
		}
		t.Errorf("git fsck: %s", line)
	}
	if err != nil && lost == 0 {
		t.Errorf("git fsck: %v", err)
	}
	s.linear()
	for i, dir := range s.trees {
		s.git(dir, "agentxchain", "fsck", "--all-runs", "--replay")
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(wire.LockPath))); err == nil {
			t.Errorf("%s is locked", dir)
		}
		history := strings.Fields(s.git(dir, "rev-list", "HEAD"))
		for _, c := range s.commits[dir] {
			if !slices.Contains(history, c) {
				t.Errorf("commit %s was acknowledged and is not in %s", c, dir)
			}
		}
		if got := s.git(dir, "status", "--porcelain"); got != "" {
			t.Errorf("status of %s: %q", dir, got)
		}
		for _, name := range []string{"mine/ignored.txt", "mine/tracked.txt"} {
			if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil ||
				string(data) != person {
				t.Errorf("%s of %s: %q, %v", name, dir, data, err)
			}
		}
		for n, role := range roleNames[:workers] {
			tree := n % len(s.trees)
			data, err := os.ReadFile(filepath.Join(dir, "work-"+role+".txt"))
			if want := strings.Join(s.lines[role], ""); tree == i && (err != nil || string(data) != want) {
				t.Errorf("the work of %s: %v, %d bytes, want %d", role, err, len(data), len(want))
			}
		}
	}
}
