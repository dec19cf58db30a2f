package loop_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testleak"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// childEnv makes the test binary a process that only drives the loop of the project it names;
// totalEnv is the number of accepted turns to reach.
const (
	childEnv = "AGENTXCHAIN_TEST_LOOP"
	totalEnv = "AGENTXCHAIN_TEST_TURNS"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(driveChild(dir))
	}
	testleak.Main(m) // no test leaves a goroutine
}

// driveChild runs loops until the project has its turns and then returns 0, or 1 when a loop
// stopped for a wrong reason.
func driveChild(dir string) int {
	ctx := context.Background()
	total, _ := strconv.Atoi(os.Getenv(totalEnv))
	r, err := runner.Open(ctx, dir, runner.Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = r.Close() }()
	for {
		v, err := r.View(ctx)
		if overtaken(err) {
			continue
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if s := v.State; s.Status == wire.StatusBlocked && s.BlockedReason.Category == "retries_exhausted" {
			if _, err := r.ReissueTurn(ctx, runner.ReissueOptions{TurnID: *s.BlockedReason.TurnID}); err != nil &&
				!overtaken(err) {
				fmt.Println(err)
				return 1
			}
			continue
		}
		if v.Index.Accepted >= total {
			return 0
		}
		res := loop.Run(ctx, r, loop.Options{Dispatch: randomAgent, MaxTurns: total - v.Index.Accepted})
		switch res.StopReason {
		case loop.MaxTurnsReached, loop.RejectExhausted, loop.ConflictStall, loop.ConflictLoop:
		default:
			fmt.Println(res.StopReason, res.Cause, res.Errors)
			return 1
		}
	}
}

// overtaken reports that the git of a killed loop was still at work.
func overtaken(err error) bool {
	code := runner.ErrorCode(err)
	return code == "ref_moved" || code == "state_moved"
}

// randomAgent takes its time, sometimes fails, and changes a file of its own and sometimes a shared
// one. What it does depends only on the turn and on the shared file, and doing it twice changes
// nothing.
func randomAgent(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, d.Turn.TurnID, d.Turn.Attempt)
	rnd := rand.New(rand.NewPCG(h.Sum64(), 1))
	time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
	switch rnd.IntN(12) {
	case 0:
		return &runtimes.Outcome{Kind: runtimes.Rejected, Reason: "nothing came of it"}
	case 1:
		return &runtimes.Outcome{Kind: runtimes.Returned, Result: []byte(`{"schema_version":`)}
	case 2:
		return returned(d.Turn, "summary", "<placeholder>")
	}
	files := []string{ownFile(d)}
	if err := os.WriteFile(filepath.Join(d.Root, files[0]), []byte(d.Turn.TurnID+"\n"), 0o666); err != nil {
		panic(err)
	}
	// What a killed attempt left in it is declared with the next one, as a person would do.
	if rnd.IntN(5) == 0 || changed(d.Root, sharedFile) {
		files = append(files, sharedFile)
		appendLine(filepath.Join(d.Root, sharedFile), d.Turn.TurnID)
	}
	return returned(d.Turn, "files_changed", files, "artifact", ojson.NewObject("type", "workspace"))
}

const sharedFile = "src/shared.txt"

func changed(root, file string) bool {
	out, err := exec.Command("git", "-C", root, "--no-optional-locks", "status", "--porcelain", "--", file).Output()
	if err != nil {
		panic(err)
	}
	return len(out) > 0
}

// ownFile returns the file of a role's next accepted turn, whichever attempt it is: the next
// attempt starts from what an attempt leaves behind.
func ownFile(d *loop.Dispatch) string {
	data, err := os.ReadFile(filepath.Join(d.Root, wire.LedgerHistory.Path()))
	if err != nil && !os.IsNotExist(err) {
		panic(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if row, err := ojson.DecodeObject([]byte(line)); err == nil && row.String("role") == d.Turn.AssignedRole &&
			row.Has("accepted_sequence") {
			n++
		}
	}
	return fmt.Sprintf("src/%s-%03d.txt", d.Turn.AssignedRole, n)
}

func appendLine(path, line string) {
	if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), line+"\n") {
		data = append(data, '\n') // changed all the same
		_ = os.WriteFile(path, data, 0o666)
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	_, _ = f.WriteString(line + "\n")
	_ = f.Close()
}

// TestKilledLoops kills the process that drives four slots again and again. In the end every turn
// is in the history once, every file of an accepted turn is in the repository, and the record
// replays.
func TestKilledLoops(t *testing.T) {
	testrepo.Thorough(t)
	turns, kills := 20, 5
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		turns, kills = 200, 50
	}
	p := newProject(t, 4, []string{"r1", "r2", "r3", "r4"}, func(cfg *ojson.Object) {
		cfg.Set("rules", ojson.NewObject("challenge_required", false, "max_turn_retries", 4))
	})
	p.write(sharedFile, "shared\n")
	git(t, p.dir, "add", "-A")
	git(t, p.dir, "commit", "-qm", "a file for everybody")
	self, err := os.Executable()
	p.must(err)
	child := func() (*exec.Cmd, *strings.Builder) {
		cmd := exec.Command(self)
		out := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Env = append(os.Environ(), childEnv+"="+p.dir, totalEnv+"="+strconv.Itoa(turns))
		p.must(cmd.Start())
		return cmd, out
	}
	killed := 0
	for range kills {
		cmd, out := child()
		time.Sleep(40*time.Millisecond + time.Duration(rand.Int64N(int64(400*time.Millisecond))))
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			break // the turns are done
		} else if cmd.ProcessState.Exited() {
			t.Fatalf("the loop gave up: %s", out)
		}
		killed++
	}
	cmd, out := child()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the last loop gave up: %v\n%s", err, out)
	}
	t.Logf("%d loops were killed", killed)

	seen := make(map[string]bool)
	rows := p.history()
	tree := "\n" + git(t, p.dir, "ls-tree", "-r", "--name-only", "HEAD") + "\n"
	shared := git(t, p.dir, "show", "HEAD:"+sharedFile)
	for _, row := range rows {
		id := row.String("turn_id")
		if seen[id] {
			t.Errorf("turn %s is in the history twice", id)
		}
		seen[id] = true
		for _, f := range row.Strings("files_changed") {
			if !strings.Contains(tree, "\n"+f+"\n") {
				t.Errorf("file %s of turn %s is not in the repository", f, id)
			}
			if f == sharedFile && !strings.Contains(shared, id) {
				t.Errorf("what turn %s wrote to the shared file is lost", id)
			}
			if f != sharedFile && git(t, p.dir, "show", "HEAD:"+f) != id {
				t.Errorf("file %s is not what turn %s wrote", f, id)
			}
		}
	}
	if len(rows) != turns {
		t.Errorf("%d turns are in the history, want %d", len(rows), turns)
	}
	if n := p.state().ActiveTurns.Len(); n != 0 {
		t.Errorf("%d turns are still active", n)
	}
	p.fsck()
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
