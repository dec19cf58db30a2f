// The version of the runner interface names a set of operations; this is the set.

package runner_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// declared02 and declared03 are the operations that each version added. A released version keeps
// its list: later operations need a new version.
var (
	declared02 = []string{
		"AcceptTurn", "AcquireLock", "ActiveTurn", "ActiveTurnCount", "ActiveTurns", "AdvanceTurn",
		"ApproveCompletionGate", "ApprovePhaseGate", "AssignTurn", "Checkpoint", "EmitNotifications", "Escalate",
		"FindTurn", "InitRun", "LoadContext", "LoadState", "MarkRunBlocked", "MaxConcurrentTurns", "ReactivateRun",
		"Record", "RefreshTurnBaseline", "ReissueTurn", "RejectTurn", "ReleaseLock", "RunHooks", "StageResult",
		"TurnStagingResultPath", "Watchdog", "WriteDispatchBundle",
	}
	declared03 = []string{
		"Abandon", "AdoptConfig", "ClaimTurn", "Confirm", "Deny", "Holds", "QueueCharters", "SendMessage", "Withdraw",
	}
)

// declaredOperations reads the operations of docs/runner.md: every name in the first column of its
// tables up to the section on other things.
func declaredOperations(t *testing.T) (names []string) {
	t.Helper()
	data, err := os.ReadFile("../docs/runner.md")
	if err != nil {
		t.Fatal(err)
	}
	page, _, found := strings.Cut(string(data), "\n## What to rely on\n")
	if !found {
		t.Fatal("docs/runner.md has no section after its operations")
	}
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(cells[1], -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}

// TestVersionStandsForItsOperations: the page declares exactly the operations of the version, and
// each of them exists.
func TestVersionStandsForItsOperations(t *testing.T) {
	if runner.InterfaceVersion != "0.3" {
		t.Fatalf("version %s has no list of what it added", runner.InterfaceVersion)
	}
	want := slices.Sorted(slices.Values(slices.Concat(declared02, declared03)))
	if got := declaredOperations(t); !slices.Equal(got, want) {
		t.Errorf("docs/runner.md declares %v\nversion %s has %v", got, runner.InterfaceVersion, want)
	}
	// Functions of a state and a configuration need no Runner.
	functions := map[string]any{
		"TurnStagingResultPath": runner.TurnStagingResultPath, "ActiveTurns": runner.ActiveTurns,
		"ActiveTurnCount": runner.ActiveTurnCount, "ActiveTurn": runner.ActiveTurn, "FindTurn": runner.FindTurn,
		"MaxConcurrentTurns": runner.MaxConcurrentTurns,
	}
	methods := reflect.TypeFor[*runner.Runner]()
	for _, name := range want {
		if _, there := methods.MethodByName(name); !there && functions[name] == nil {
			t.Errorf("the interface declares %s, and package runner has no such operation", name)
		}
	}
}
