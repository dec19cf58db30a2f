// multi: one initiative over several repositories.

package multi

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func NewCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "multi", Category: shared.CategoryMulti, Usage: "run one initiative over several repositories",
		Description: "Run in the directory that holds agentxchain-multi.json. The repositories keep their own runs; the initiative gives them turns, counts what they accept, and waits at barriers and gates.",
		Subcommands: []*ucli.Command{
			newMultiNewCommand(f),
			newMultiInitCommand(f),
			newMultiStatusCommand(f),
			newMultiBarriersCommand(f),
			newMultiStepCommand(f),
			newMultiRunCommand(f),
			newMultiApproveCommand(f),
			newMultiResyncCommand(f),
			newMultiResumeCommand(f),
			newMultiAbandonCommand(f),
			newMultiRestoreCommand(f),
			newMultiHooksCommand(f),
		},
	}
}

// actionObjects adds next actions for --json: the command of the first, or null, and all
// (docs/commands.md).
func actionObjects(o *ojson.Object, list []initiative.Action) {
	rows := ojson.List(list, func(a initiative.Action) *ojson.Object { return a.Object(coordinator.Program) })
	var first any
	if len(rows) > 0 {
		first = rows[0].String("command")
	}
	o.Set("next_action", first)
	o.Set("next_actions", rows)
}

// printActions prints what can be done now.
func printActions(p *term.Printer, list []initiative.Action) {
	if len(list) == 0 {
		return
	}
	p.Println()
	for i, a := range list {
		switch {
		case i == 0:
			p.Field("Next", "%s", p.Bold(a.Line(coordinator.Program)))
		case a.Command != list[i-1].Command:
			p.Field("Then", "%s", p.Bold(a.Line(coordinator.Program)))
		}
		p.Printf("%s %s\n", term.Pad("", 14), term.OneLine(a.Reason))
	}
}

// printProblems prints the problems of repositories, one a line.
func printProblems(f *term.Factory, list wire.Problems) {
	for _, p := range list {
		f.Out.Warn("%s", term.OneLine(p.Message))
	}
}
