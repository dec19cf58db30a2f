// The short form of the benchmarks: counts, and ratios to git in the same run, that must not get
// worse. No time is judged, so a slow or busy machine passes.

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
	"github.com/git-agentxchain/git-agentxchain/bench/internal/play"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// built returns the program as the go command builds it by default.
func built(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "git-agentxchain")
	if out, err := exec.Command("go", "build", "-o", name, "../cmd/git-agentxchain").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return name
}

// TestStartBudget: what the program does before main, as the runtime lists it. A library that costs
// more must be a decision, not an accident.
func TestStartBudget(t *testing.T) {
	testrepo.Thorough(t)
	const packages, allocations = 200, 6600
	cmd := exec.Command(built(t), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inits, allocs := 0, 0
	for line := range strings.Lines(string(out)) {
		// init PACKAGE @0.1 ms, 0.2 ms clock, 304 bytes, 3 allocs
		f := strings.Fields(line)
		if len(f) < 4 || f[0] != "init" || f[len(f)-1] != "allocs" {
			continue
		}
		n, err := strconv.Atoi(f[len(f)-2])
		if err != nil {
			t.Fatal(line)
		}
		inits++
		allocs += n
	}
	if inits == 0 || inits > packages || allocs == 0 || allocs > allocations {
		t.Errorf("%d packages with work before main and %d allocations there; the budget is %d and %d (docs/performance.md)",
			inits, allocs, packages, allocations)
	}
}

// TestCommandsBesideGit: the git processes of each command, and its processor time compared with
// git's own commands in the same repository.
func TestCommandsBesideGit(t *testing.T) {
	testrepo.Thorough(t)
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere git is asked where the repository is and what is configured")
	}
	program := built(t)
	commit := [][]string{{"git", "commit", "-q", "--allow-empty", "-m", "beside"}, {"git", "status", "-s"}}
	synced := [][]string{{"git", "add", "beside.txt"},
		{"git", "-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync", "commit", "-q", "-m", "beside"}}
	for kind, commands := range map[play.Kind][]besideGit{
		play.Review: {
			{
				name:  "version",
				gits:  0,
				limit: 3,
				argv:  func(p *play.Project) []string { return []string{p.Bin, "version"} },
			},
			{name: "status", gits: 1, // of the work tree, as no turn is active
				limit: 4, argv: func(p *play.Project) []string { return []string{p.Bin, "status"} }},
			{name: "accept", gits: 2, limit: 7, argv: (*play.Project).AcceptArgs, turn: true},
		},
		play.Changes: {
			{name: "accept --checkpoint", gits: 5, limit: 11, argv: (*play.Project).AcceptArgs, turn: true},
		},
	} {
		beside := commit
		if kind == play.Changes {
			beside = synced
		}
		p, err := play.New(filepath.Join(t.TempDir(), "project"), program, kind)
		if err == nil {
			err = p.Turns(3)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands {
			t.Run(c.name, func(t *testing.T) { c.measure(t, p, beside) })
		}
	}
}

// besideGit is a command with its limits.
type besideGit struct {
	name  string
	gits  int     // processes
	limit float64 // of processor time, as a multiple of git's
	argv  func(*play.Project) []string
	turn  bool // it ends a turn, which has to be begun
}

// measure counts the processes once, and compares the medians of nine rounds; a machine may spoil
// two comparisons of three.
func (c besideGit) measure(t *testing.T, p *play.Project, beside [][]string) {
	t.Helper()
	spec := func() measure.Spec {
		if c.turn {
			if err := p.Assign(); err != nil {
				t.Fatal(err)
			}
		}
		return measure.Spec{Argv: c.argv(p), Dir: p.Dir, Env: play.Environment()}
	}
	// A file of the previous turn that is as recent as the beginning of this one, in seconds, costs three more of
	// them: no person's turn follows that fast.
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	gits, _, err := measure.GitProcesses(spec(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if gits != c.gits {
		t.Errorf("%d git processes, expected %d (docs/performance.md)", gits, c.gits)
	}
	var last float64
	for range 3 {
		var ours, gits measure.Series
		for range 9 {
			cost, _, err := measure.MustSucceed(spec())
			if err != nil {
				t.Fatal(err)
			}
			ours = append(ours, cost)
			var sum measure.Cost
			for _, argv := range beside {
				if argv[1] == "add" {
					if err := os.WriteFile(filepath.Join(p.Dir, argv[2]), fmt.Append(nil, cost), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				cost, _, err := measure.MustSucceed(measure.Spec{Argv: argv, Dir: p.Dir, Env: play.Environment()})
				if err != nil {
					t.Fatal(err)
				}
				sum.CPU += cost.CPU
			}
			gits = append(gits, sum)
		}
		last = float64(ours.CPU().Median) / float64(max(gits.CPU().Median, 1))
		t.Logf("%.1f times the processor time of git (%v, %v)", last, ours.CPU().Median, gits.CPU().Median)
		if last <= c.limit {
			return
		}
	}
	t.Errorf("%.1f times the processor time of git's own commands, the limit is %.0f", last, c.limit)
}
