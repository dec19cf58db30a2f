package loop_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// TestNothingLeaks drives many dispatches, each of which starts a real program, and looks for
// leftovers: goroutines, descriptors, children.
func TestNothingLeaks(t *testing.T) {
	testrepo.Serving(t)
	if runtime.GOOS != "linux" {
		t.Skip("descriptors and children are counted in /proc")
	}
	turns := 25
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		turns = 500
	}
	p := newProject(t, 2, []string{"a", "b"}, nil)
	dispatches := make(chan int, 4*turns)
	dispatch := func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
		dispatches <- 1
		if err := exec.CommandContext(ctx, "true").Run(); err != nil {
			t.Error(err)
		}
		if d.Turn.Attempt == 1 {
			return &runtimes.Outcome{Kind: runtimes.Rejected, Reason: "again"} // two dispatches a turn
		}
		return returned(d.Turn)
	}
	run := func(n int) {
		if res := loop.Run(context.Background(), p.r, loop.Options{
			MaxTurns: n,
			Dispatch: dispatch,
		}); res.TurnsExecuted != n {
			t.Fatalf("%+v", res)
		}
	}
	run(8) // what is kept for good exists now
	before := inUse(t)
	run(turns)
	var after [3]int
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if after = inUse(t); after[0] <= before[0] && after[1] <= before[1] && after[2] <= before[2] {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %d dispatches: goroutines, descriptors, children %v, before %v", len(dispatches), after,
				before)
		}
	}
	open, gone := openPacks(t)
	packs, err := filepath.Glob(filepath.Join(p.dir, ".git/objects/pack/*.pack"))
	if err != nil || open > 2*len(packs) || gone > 0 {
		t.Errorf("%d packs: %d descriptors are open, %d of packs that are gone (%v)", len(packs), open, gone, err)
	}
	t.Logf("%d packs, %d open; %d dispatches: goroutines, descriptors, children %v, before %v", len(packs), open,
		len(dispatches), after, before)
}

// descriptors returns what this process has open. The store keeps all packs of the repository open,
// so they are listed separately.
func descriptors(t *testing.T) (packs, others []string) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		name, err := os.Readlink("/proc/self/fd/" + fd.Name())
		switch {
		case err != nil: // the descriptor of this very listing
		case strings.Contains(name, "/objects/pack/"):
			packs = append(packs, name)
		default:
			others = append(others, name)
		}
	}
	return packs, others
}

// openPacks counts open packs, and those of them whose file is gone.
func openPacks(t *testing.T) (open, gone int) {
	t.Helper()
	packs, _ := descriptors(t)
	for _, name := range packs {
		if strings.HasSuffix(name, " (deleted)") {
			gone++
		}
	}
	return len(packs), gone
}

// inUse counts goroutines, open descriptors besides packs, and child processes.
func inUse(t *testing.T) [3]int {
	t.Helper()
	_, fds := descriptors(t)
	children := 0
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		data, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for _, c := range data {
			if c == ' ' {
				children++
			}
		}
	}
	return [3]int{runtime.NumGoroutine(), len(fds), children}
}
