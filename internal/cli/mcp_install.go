// mcp install: telling a client about the server, and the project's file that does so.

package cli

import (
	"context"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/mcpclients"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/personfile"
)

func newMCPInstallCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "install", Usage: "print how to register this server with a client, or write its file",
		Description: "Prints the command to type, or what the client's file needs to contain; without --client, " +
			"for every client.",
		Flags: []ucli.Flag{
			term.NewChoiceFlag("client", "the `CLIENT`", "", mcpclients.IDs()...),
			&ucli.BoolFlag{Name: "write", Usage: "write the client's file in the project"},
		},
		Action: func(c *ucli.Context) error {
			client := mcpclients.Find(c.String("client"))
			if c.Bool("write") {
				if client == nil {
					return term.UsageErrorf("--write needs --client: %s", strings.Join(mcpclients.IDs(), ", "))
				}
				return writeMCPFile(c.Context, f, client)
			}
			shown := mcpclients.Clients()
			if client != nil {
				shown = []mcpclients.Client{*client}
			}
			showMCPClients(f, shown)
			return nil
		},
	}
}

func showMCPClients(f *term.Factory, clients []mcpclients.Client) {
	rows := ojson.List(clients, func(c mcpclients.Client) *ojson.Object {
		return ojson.NewObject("client", c.ID, "title", c.Title, "line", ojson.OrNull(c.Line),
			"scope", ojson.OrNull(c.Scope),
			"file", c.File, "content", c.Example(), "asks", ojson.OrNull(c.Trust), "tested", c.Tested)
	})
	f.Out.Emit(ojson.NewObject("clients", rows), func(p *term.Printer) {
		for i, c := range clients {
			if i > 0 {
				p.Println()
			}
			p.Println(p.Bold(c.Title))
			if c.Line != "" {
				p.Printf("  %s\n", c.Line)
			}
			p.Printf("  git agentxchain mcp install --client %s --write   # %s\n", c.ID, c.File)
			if len(clients) > 1 {
				continue
			}
			p.Printf("\n%s then holds:\n", c.File)
			p.Printf("  %s\n", strings.ReplaceAll(strings.TrimSpace(c.Example()), "\n", "\n  "))
			if c.Trust != "" {
				p.Field("\nNote", "%s", c.Trust)
			}
			if !c.Tested {
				p.Field("\nNote", "not tested here with the program itself")
			}
		}
	})
}

func writeMCPFile(ctx context.Context, f *term.Factory, c *mcpclients.Client) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	dir := r.Record().Dir()
	file, err := personfile.Read(dir, c.File)
	if err != nil {
		return err
	}
	data, err := c.Register(file.Data)
	if err != nil {
		return term.Errorf("invalid_input", "%s is left as it is: %w", c.File, err).
			WithHint("write the server into it by hand: git agentxchain mcp install --client " + c.ID)
	}
	change := newFileChange(file, data)
	if err := change.carryOut(); err != nil {
		return err
	}
	f.Out.Emit(ojson.NewObject("client", c.ID, "path", c.File, "action", change.word), func(p *term.Printer) {
		p.Field(changeLabel(change.word), "%s", c.File)
		if c.Trust != "" {
			p.Field("Note", "%s", c.Trust)
		}
		notePlace(p, r)
		if change.word != "unchanged" {
			p.Println("\nCommit it: a turn starts from a clean work tree.")
		}
	})
	return nil
}
