// docs/commands.md must describe the commands of the look, trust and start groups with the flags they have.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

func TestCommandsDocument(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{} // first word of a heading -> text
	for part := range strings.SplitSeq(string(data), "\n### ") {
		head, body, _ := strings.Cut(part, "\n")
		for name := range strings.SplitSeq(head, ",") {
			if words := strings.Fields(name); len(words) > 0 {
				sections[words[0]] += body
			}
		}
	}
	var check func(section string, list []*ucli.Command)
	check = func(section string, list []*ucli.Command) {
		for _, c := range list {
			in := section
			if in == "" {
				in = c.Name
			}
			if section == "" && (c.Hidden || c.Category != shared.CategoryStart && c.Category != shared.CategoryRun &&
				c.Category != shared.CategoryLook && c.Category != shared.CategoryTrust) {
				continue
			}
			body, ok := sections[in]
			if !ok {
				t.Errorf("docs/commands.md does not describe %s", in)
				continue
			}
			for _, h := range term.FlagHelps(c) {
				for _, n := range h.Names {
					// A flag that repeats the operand is described once for all.
					if len(n) > 1 && !strings.Contains(body, "--"+n) && !strings.Contains(strings.ToUpper(body),
						strings.ToUpper(n)) && n != "limit" && n != "all-runs" {
						t.Errorf("docs/commands.md: %s does not mention --%s", in, n)
					}
				}
			}
			check(in, c.Subcommands)
		}
	}
	check("", newCommands(&term.Factory{}))
}
