// Git's housekeeping without pause beside governed runs: what a command has said is recorded stays.

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// person is what the person's own files hold.
const person = "of a person\n"

// stormFor is how long the long form lasts.
const stormFor = 100 * time.Second

// housekeeping is what removes objects that no ref reaches, or files them elsewhere. Each
// row is run over and over, beside the other.
var housekeeping = [][][]string{
	{{"repack", "-adq"}, {"multi-pack-index", "write"}, {"gc", "-q", "--prune=now"}, {"repack", "-dq", "--cruft", "--cruft-expiration=now"},
		{"maintenance", "run", "--quiet", "--task=loose-objects", "--task=incremental-repack", "--task=commit-graph", "--task=pack-refs"},
		{"repack", "-dq", "--geometric=2"}},
	{{"prune", "--expire=now"}, {"pack-refs", "--all"}, {"prune", "--expire=now"}, {"prune-packed", "-q"}},
}

// storm is one repository with three work trees. The first two share a run, the third
// has one of its own.
type storm struct {
	t     *testing.T
	trees []string
	over  atomic.Bool // the workers have ended

	mu      sync.Mutex
	lines   map[string][]string // role -> what it has written to its file
	ops     map[string][]string // run -> operations said to be recorded
	commits map[string][]string // work tree -> commits said to be made
	retries map[string]int      // code -> how often a command was told to try again
	count   map[string]int      // command -> how often it ended well
}

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

// later are refusals that end when a turn beside this one does.
var later = []string{wire.CodeAtCapacity, wire.CodeDirtyTree, wire.CodeCheckpointRequired}

// answer is what a command says about itself.
type answer struct {
	OK       bool
	Run      string `json:"run_id"`
	Op       string
	Turn     string `json:"turn_id"`
	Staging  string `json:"staging_path"`
	Commit   string
	Template json.RawMessage `json:"result_template"`
	Error    struct{ Code, Message string }
}

// do runs a command until it is not told to try again, and notes what it acknowledged.
func (s *storm) do(dir string, args ...string) (*answer, error) {
	for !s.t.Failed() { // others may wait for the turn of one that gave up
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("git", append(append([]string{"agentxchain"}, args...), "--json")...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
		status, err := exitOf(cmd)
		a := &answer{}
		if err == nil {
			err = json.Unmarshal(stdout.Bytes(), a)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s%s", args, err, stdout.Bytes(), stderr.Bytes())
		}
		s.mu.Lock()
		switch {
		case status == 0:
			s.count[args[0]]++
			s.ops[a.Run] = append(s.ops[a.Run], a.Op)
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

// turn carries out one turn of a role: assigned, its file declared and written,
// accepted, committed.
func (s *storm) turn(dir, role string, assign ...string) error {
	a, err := s.do(dir, assign...)
	if err != nil {
		return err
	}
	doc, err := ojson.DecodeObject(a.Template)
	if err != nil {
		return err
	}
	file := "work-" + role + ".txt"
	for _, kv := range [][2]any{{"summary", "a line of " + role}, {"decisions", []any{}}, {"files_changed", []string{file}}, {"proposed_next_role", "human"},
		{"verification", ojson.NewObject("status", "skipped", "commands", []any{}, "evidence_summary", "nothing to run", "machine_evidence", []any{})}} {
		doc.Set(kv[0].(string), kv[1])
	}
	// Declared before it is there, as others are judged in the same work tree.
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(a.Staging)), ojson.Pretty(doc), 0o666); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, a.Turn)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.lines[role] = append(s.lines[role], a.Turn+"\n")
	s.mu.Unlock()
	if _, err := s.do(dir, "accept", a.Turn); err != nil {
		return err
	}
	_, err = s.do(dir, "checkpoint", a.Turn)
	return err
}

// newStorm makes the repository, a person's files in each of its work trees, and the
// two runs.
func newStorm(t *testing.T) *storm {
	t.Helper()
	for _, kv := range [][2]string{{"GIT_CONFIG_GLOBAL", os.DevNull}, {"GIT_CONFIG_SYSTEM", os.DevNull}, {"AGENTXCHAIN_TURN_ID", ""},
		{"GIT_AUTHOR_NAME", "Ada"}, {"GIT_AUTHOR_EMAIL", "ada@example.org"}, {"GIT_COMMITTER_NAME", "Ada"}, {"GIT_COMMITTER_EMAIL", "ada@example.org"}} {
		t.Setenv(kv[0], kv[1])
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &storm{t: t, lines: map[string][]string{}, ops: map[string][]string{}, commits: map[string][]string{}, retries: map[string]int{}, count: map[string]int{}}
	roles, routed := ojson.NewObject(), []string{"human"}
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		roles.Set(id, ojson.NewObject("title", id, "mandate", "Do "+id+".", "write_authority", "authoritative", "runtime", "manual"))
		routed = append(routed, id)
	}
	routing := ojson.NewObject("build", ojson.NewObject("entry_role", "a", "allowed_next_roles", routed, "max_concurrent_turns", 4))
	main := filepath.Join(base, "main")
	if err := scriptProject([]string{main, "roles=" + string(ojson.Compact(roles)), `runtimes={"manual":{"type":"manual"}}`,
		"routing=" + string(ojson.Compact(routing)), "gates={}", "prompts={}", "workflow_kit={}", "approval_policy=", "policies=", "budget=",
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
		write(t, dir, "mine/ignored.txt", person)
		write(t, dir, "mine/tracked.txt", person)
		s.git(dir, "add", "mine/tracked.txt")
		s.git(dir, "commit", "-q", "-m", "of a person")
		// The first commands of each run, before the storm.
		switch i {
		case 0:
			err = s.turn(dir, "a", "assign", "a")
		case 1:
			_, err = s.do(dir, "repair", "--from-ref", slices.Collect(maps.Keys(s.ops))[0])
		case 2:
			err = s.turn(dir, "e", "assign", "e", "--new-run")
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

// workers are the roles at work and the work tree of each.
var workers = map[string]int{"a": 0, "b": 0, "c": 1, "d": 1, "e": 2, "f": 2}

// TestStormOfMaintenance has six workers take turns in three work trees while git's
// housekeeping, told to remove at once whatever no ref reaches, runs without pause.
func TestStormOfMaintenance(t *testing.T) {
	s := newStorm(t)
	goOn := func(n int) bool { return n < 1 }
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		end := time.Now().Add(stormFor)
		goOn = func(int) bool { return time.Now().Before(end) }
	}
	var keepers, at sync.WaitGroup
	var ran, failed atomic.Int64
	for _, commands := range housekeeping {
		keepers.Go(func() {
			for n := 0; !s.over.Load(); n++ {
				args := commands[n%len(commands)]
				// One that meets another, or a lock, may give up.
				cmd := exec.Command("git", append([]string{"-C", s.trees[n%len(s.trees)]}, args...)...)
				if cmd.Run() != nil {
					failed.Add(1)
				}
				ran.Add(1)
			}
		})
	}
	for role, tree := range workers {
		at.Go(func() {
			for n := 0; goOn(n); n++ {
				if err := s.turn(s.trees[tree], role, "assign", role); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	at.Wait()
	s.over.Store(true)
	keepers.Wait()
	t.Logf("%d commands of housekeeping, %d of them gave up; ended well: %v; told to try again: %v", ran.Load(), failed.Load(), s.count, s.retries)
	s.settled()
}

// settled is what must hold when it is calm again.
func (s *storm) settled() {
	t := s.t
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
	if out := s.git(s.trees[0], "fsck", "--full", "--strict", "--no-dangling"); out != "" {
		t.Errorf("git fsck: %s", out)
	}
	for run, ops := range s.ops {
		chain := strings.Fields(s.git(s.trees[0], "rev-list", "refs/agentxchain/runs/"+run))
		for _, op := range ops {
			if !slices.Contains(chain, op) {
				t.Errorf("operation %s of %s was acknowledged and is not in its chain", op, run)
			}
		}
	}
	for i, dir := range s.trees {
		// A work tree may be behind the run it shares: the next command completes it.
		s.git(dir, "agentxchain", "doctor", "--fix")
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
			if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(data) != person {
				t.Errorf("%s of %s: %q, %v", name, dir, data, err)
			}
		}
		for role, tree := range workers {
			data, err := os.ReadFile(filepath.Join(dir, "work-"+role+".txt"))
			if want := strings.Join(s.lines[role], ""); tree == i && (err != nil || string(data) != want) {
				t.Errorf("the work of %s: %v, %d bytes, want %d", role, err, len(data), len(want))
			}
		}
	}
}
