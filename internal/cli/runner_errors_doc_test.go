// docs/runner-errors.md is generated from the program: the codes that each operation of the runner
// interface can end with.

package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/codeflow"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

const module = "github.com/git-agentxchain/git-agentxchain/"

// interfaceOperations lists the operations of the runner interface that can fail, in the order of
// the document; the queries (ActiveTurns and so on) cannot.
func interfaceOperations() []string {
	return []string{"LoadContext", "LoadState", "InitRun", "ReactivateRun", "AssignTurn", "AcceptTurn", "RejectTurn",
		"ReissueTurn",
		"ApprovePhaseGate", "ApproveCompletionGate", "MarkRunBlocked", "Escalate", "WriteDispatchBundle",
		"RefreshTurnBaseline", "StageResult",
		"RunHooks", "EmitNotifications", "AcquireLock", "ReleaseLock", "AdvanceTurn", "Watchdog", "Checkpoint", "Deny",
		"Withdraw", "Abandon", "Confirm", "AdoptConfig", "QueueCharters", "SendMessage"}
}

// swallowed returns functions whose refusals do not become the operation's error, and why; the
// named operation still owns them.
func swallowed() map[string]struct{ owner, why string } {
	return map[string]struct{ owner, why string }{
		"(*" + module + "runner.Runner).notify": {"", "what goes wrong with notifications is a notice"},
		"(*" + module + "protocol.Block).Apply": {"MarkRunBlocked",
			"a hook's block that is refused leaves the hook's answer as the error"},
		"(*" + module + "protocol.Audit).Apply": {"",
			"rows are cut to what one operation records before they are handed over"},
	}
}

type operationCodes struct {
	name  string
	codes []string
}

func analysed(t *testing.T) []operationCodes {
	t.Helper()
	p, err := codeflow.Load(filepath.Join("..", ".."), "./runner")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var out []operationCodes
	for _, name := range interfaceOperations() {
		obj, err := p.Method(module+"runner", "Runner", name)
		if err != nil {
			t.Fatal(err)
		}
		skip := map[string]bool{}
		for f, s := range swallowed() {
			if s.owner != name {
				skip[f] = true
			}
		}
		out = append(out, operationCodes{name, p.Codes(obj, skip, used)})
	}
	for f := range swallowed() {
		if !used[f] {
			t.Errorf("%s is left out but never met", f)
		}
	}
	return out
}

// without returns the codes of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(c string) bool { return slices.Contains(b, c) })
}

func runnerErrorsDoc(t *testing.T, ops []operationCodes) string {
	t.Helper()
	meaning := map[string]term.ExitCode{}
	status := map[string]int{}
	for _, row := range term.ExitTable() {
		for _, c := range row.Codes {
			meaning[c.Code], status[c.Code] = c, row.Status
		}
	}
	reading := ops[slices.IndexFunc(ops, func(o operationCodes) bool { return o.name == "LoadState" })].codes
	var changing []string
	for i, o := range ops {
		switch o.name {
		case "LoadContext", "LoadState", "StageResult", "EmitNotifications", "AcquireLock", "ReleaseLock":
			continue
		}
		own := without(o.codes, reading)
		if changing == nil {
			changing = own
			continue
		}
		changing = slices.DeleteFunc(changing, func(c string) bool { return !slices.Contains(ops[i].codes, c) })
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Error codes of the runner interface %s

Every result of package `+"`runner`"+` carries `+"`OK`, `Error`, `Code` and `Hint`"+` (`+"`runner.Outcome`"+
		`), also when it comes with a Go
error; `+"`runner.ErrorCode(err)`"+` gives the same code. The lists below are made from the program by
`+"`go test ./internal/cli -run ErrorsDoc -update-docs`"+
		`: every call is followed and every code on the way is collected,
so a code that is not in an operation's row cannot come from it. A few of those listed need a damaged
repository or two programs at work at the same moment. Any operation can end with `+"`interrupted`"+` or
`+"`timeout`"+` when its context ends, and with `+"`failed`"+
		` when the operating system refuses something that has no code.

What each code means, and the exit status the command line gives it, is in the second table and in
[errors.md](errors.md).

## Groups

**read**: what reading the run can meet: %s.

**change**: what every operation can meet that takes the lock, runs hooks and records: %s.

## Operations

| operation | groups | codes of its own |
|---|---|---|
`, runner.InterfaceVersion, codeList(reading), codeList(changing))
	for _, o := range ops {
		own, groups := o.codes, []string{}
		if len(without(reading, own)) == 0 {
			own, groups = without(own, reading), append(groups, "read")
		}
		if len(without(changing, own)) == 0 {
			own, groups = without(own, changing), append(groups, "change")
		}
		list := codeList(own)
		if list == "" {
			list = "none"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.name, strings.Join(groups, ", "), list)
	}
	b.WriteString("\n`ActiveTurns`, `ActiveTurnCount`, `ActiveTurn`, `MaxConcurrentTurns` and `TurnStagingResultPath` cannot fail.\n")
	b.WriteString("\n## Codes\n\n| code | exit | meaning | operations |\n|---|---|---|---|\n")
	all := map[string][]string{}
	for _, o := range ops {
		for _, c := range o.codes {
			all[c] = append(all[c], o.name)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(all)) {
		if _, ok := meaning[c]; !ok {
			t.Errorf("code %s has no row in exit.go", c)
		}
		who := strings.Join(all[c], ", ")
		switch {
		case slices.Contains(reading, c):
			who = "read"
		case slices.Contains(changing, c):
			who = "change"
			for _, name := range all[c] {
				if name == "AcquireLock" || name == "ReleaseLock" || name == "StageResult" {
					who += ", " + name
				}
			}
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", c, status[c], meaning[c].Meaning, who)
	}
	return b.String()
}

func codeList(codes []string) string {
	quoted := make([]string, len(codes))
	for i, c := range codes {
		quoted[i] = "`" + c + "`"
	}
	return strings.Join(quoted, ", ")
}

func TestRunnerErrorsDoc(t *testing.T) {
	testrepo.Thorough(t)
	want := runnerErrorsDoc(t, analysed(t))
	path := filepath.Join("..", "..", "docs", "runner-errors.md")
	if *updateDocs {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/runner-errors.md differs from the program; run: go test ./internal/cli -run ErrorsDoc -update-docs")
	}
}
