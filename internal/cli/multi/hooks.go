// multi hooks: what agentxchain-multi.json would run on this machine, and a person's consent to it.

package multi

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

func newMultiHooksCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "hooks", Usage: "show the hooks of agentxchain-multi.json, and trust them",
		Description: "Without a flag, runs and changes nothing. Trust is stored by digest in the git configuration of the workspace's repository. If the workspace is in none, give --trust or AGENTXCHAIN_TRUST to each command.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "trust", Usage: "let what is shown run on this machine"},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
		},
		Action: func(c *ucli.Context) error {
			return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				return runMultiHooks(c.Context, f, co, c.Bool("trust"), c.Bool("yes"))
			})
		},
	}
}

func runMultiHooks(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, agree, yes bool) error {
	t, err := co.TrustState(ctx)
	if err != nil {
		return err
	}
	if agree {
		if err := shared.Agree(ctx, f, co, t, yes, "git agentxchain multi hooks"); err != nil {
			return err
		}
	}
	f.Out.Emit(shared.TrustObject(t), func(p *term.Printer) {
		if t.Scope.Empty() {
			p.Printf("%s names no hooks.\n", initiative.ConfigFile)
			return
		}
		for _, line := range shared.TrustLines(t.Scope) {
			p.Println(line)
		}
		p.Println()
		p.Field("Digest", "%s", t.Scope.Digest)
		if t.How == "" {
			p.Field("Trusted", "%s", p.Yellow("no"))
			p.Field("Next", "%s", p.Bold(coordinator.TrustCommand))
			return
		}
		p.Field("Trusted", "%s", p.Green("yes ("+t.How+")"))
	})
	return nil
}
