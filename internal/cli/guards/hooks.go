// hooks show and hooks trust: what agentxchain.json would run and contact on this machine, and a person's consent to
// it.

package guards

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

func NewHooksCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "hooks",
		Category: shared.CategoryTrust,
		Usage:    "install guards in git's hooks; trust the project's lifecycle hooks",
		Subcommands: append(newGitHooksCommands(f), []*ucli.Command{
			{
				Name: "show", Aliases: []string{
					"list",
				}, Usage: "what agentxchain.json would run and contact on this machine",
				Description: "Lists lifecycle hooks, webhooks, gate actions and runtimes, the project files that " +
					"their commands name, and whether all of it is trusted here. Runs nothing.",
				Action: func(c *ucli.Context) error { return runHooksShow(c.Context, f) },
			},
			{
				Name: "trust", Usage: "let what agentxchain.json names run on this machine",
				Description: "Shows what would be run and contacted, and asks. The answer is stored in this " +
					"repository's git configuration, by digest. If a hook, a webhook, a gate action, a runtime or " +
					"a file that a command names changes, you are asked again. It is refused inside a dispatched " +
					"turn.",
				Flags: []ucli.Flag{
					&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
					&ucli.BoolFlag{Name: "revoke", Usage: "take back every trust given in this repository"},
				},
				Action: func(c *ucli.Context) error {
					return runHooksTrust(c.Context, f, c.Bool("yes"), c.Bool("revoke"))
				},
			},
		}...),
	}
}

func runHooksShow(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	t, err := r.TrustState(ctx)
	if err != nil {
		return err
	}
	f.Out.Emit(shared.TrustObject(t), func(p *term.Printer) {
		if t.Scope.Empty() {
			p.Println("agentxchain.json names no hooks, webhooks, gate actions or runtimes that start or contact anything.")
			return
		}
		for _, line := range shared.TrustLines(t.Scope) {
			p.Println(line)
		}
		p.Println()
		p.Field("Digest", "%s", t.Scope.Digest)
		switch t.How {
		case "":
			p.Field("Trusted", "%s", p.Yellow("no"))
			p.Field("Next", "%s", p.Bold("git agentxchain hooks trust"))
		case trust.Stored:
			p.Field("Trusted", "%s", p.Green("yes, in this repository"))
		default:
			p.Field("Trusted", "%s", p.Green("for this command ("+t.How+")"))
		}
	})
	return nil
}

func runHooksTrust(ctx context.Context, f *term.Factory, yes, revoke bool) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	if revoke {
		if err := r.Revoke(ctx); err != nil {
			return err
		}
		f.Out.Emit(ojson.NewObject("trusted", false, "revoked", true), func(p *term.Printer) {
			p.Println("This repository no longer trusts anything that agentxchain.json names.")
		})
		return nil
	}
	t, err := r.TrustState(ctx)
	if err != nil {
		return err
	}
	if err := shared.Agree(ctx, f, r, t, yes, "git agentxchain hooks show"); err != nil {
		return err
	}
	f.Out.Emit(shared.TrustObject(t), func(p *term.Printer) {
		if t.Scope.Empty() {
			p.Println("agentxchain.json names no hooks, webhooks, gate actions or runtimes that start or contact anything; there is nothing to trust.")
			return
		}
		if yes {
			for _, line := range shared.TrustLines(t.Scope) {
				p.Println(line)
			}
			p.Println()
		}
		p.Printf("Trusted in this repository, as %s. You are asked again if any of it changes.\n", t.Scope.Digest)
	})
	return nil
}
