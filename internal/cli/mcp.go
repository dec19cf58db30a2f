// mcp: the run as tools and resources for an agent, over standard input and output.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/mcpserver"
)

func newMCPCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "mcp", Aliases: []string{"serve-mcp"}, Category: shared.CategoryView,
		Usage: "serve the run to an agent over the Model Context Protocol (stdio)",
		Description: "An agent starts this command; it is not for use by hand. It speaks JSON-RPC on standard " +
			"input and output until the input ends. The agent can look, take a turn, stage its result and have it " +
			"accepted. Approving gates and lifting blocks stay with people. If the agent starts it outside the " +
			"project, name the project with -C.",
		Subcommands: []*ucli.Command{newMCPInstallCommand(f)},
		Action:      func(c *ucli.Context) error { return runMCP(c.Context, f) },
	}
}

func runMCP(ctx context.Context, f *term.Factory) error {
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	if f.Env.IsTerminal(f.Env.Stdin) {
		f.Out.Notice("This is a server for agents: it waits for JSON-RPC messages on standard input. ^D ends it; docs/mcp.md says how agents are told of it.")
	}
	shared.Serving()
	return mcpserver.Serve(ctx, mcpserver.Options{
		Dir:    dir,
		Getenv: f.Env.Getenv,
		Now:    f.Env.Now,
	}, f.Env.Stdin, f.Env.Stdout)
}
