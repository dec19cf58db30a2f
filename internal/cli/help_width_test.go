// Help fits into 80 columns, in a pipe and at a terminal.

package cli

import (
	"bytes"
	"strings"
	"testing"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

func TestHelpFitsTheTerminal(t *testing.T) {
	pages := []string{"", "environment", "exit-codes", "formats", "storage", "hooks", "security"}
	var walk func(list []*ucli.Command, above string)
	walk = func(list []*ucli.Command, above string) {
		for _, c := range list {
			pages = append(pages, above+c.Name)
			walk(c.Subcommands, above+c.Name+" ")
		}
	}
	plain := func(name string) string {
		if name == "NO_COLOR" {
			return "1"
		}
		return ""
	}
	walk(newCommands(&term.Factory{}), "")
	for _, columns := range []int{0, 80, 200} {
		widest := 0
		for _, page := range pages {
			var out bytes.Buffer
			env := term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: plain, Dir: t.TempDir(),
				IsTerminal: func(any) bool { return columns > 0 }, Width: func(any) int { return columns }}
			if status := Main(append([]string{"git-agentxchain", "help", "--no-pager"}, strings.Fields(page)...),
				env); status != 0 {
				t.Fatalf("help %s: %d %s", page, status, out.String())
			}
			text, _, _ := strings.Cut(out.String(), "\nexamples\n") // lines to copy
			for line := range strings.SplitSeq(text, "\n") {
				widest = max(widest, term.DisplayWidth(line))
				if term.DisplayWidth(line) > 80 {
					t.Errorf("help %s at %d columns: %d: %s", page, columns, term.DisplayWidth(line), line)
				}
			}
		}
		if widest < 50 {
			t.Errorf("at %d columns the widest line has %d", columns, widest)
		}
	}
}
