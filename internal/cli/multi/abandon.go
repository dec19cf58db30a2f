// multi abandon: a person ends the initiative early.

package multi

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func newMultiAbandonCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "abandon", Usage: "end the initiative early and permanently",
		Description: "Takes back the gate that waits, and assigns no more turns. The repositories keep their runs, turns at work included, and the record stays. multi init then starts another initiative with them. An agent inside a dispatched turn cannot abandon it.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "reason", Usage: "why (`TEXT`); required, and recorded"},
		},
		Action: func(c *ucli.Context) error {
			return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				return runMultiAbandon(c.Context, f, co, c.String("reason"))
			})
		},
	}
}

func runMultiAbandon(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, reason string) error {
	out, err := co.Abandon(ctx, reason)
	if err != nil {
		return err
	}
	payload := ojson.NewObject("super_run_id", out.State.SuperRunID, "status", string(out.State.Status),
		"phase", out.State.Phase, "abandoned_at", out.State.AbandonedAt, "from_status", string(out.Before),
		"reason", reason, "gate", ojson.OrNull(out.Gate))
	actionObjects(payload, out.Next)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("Initiative %s is abandoned. Its record stays, and the repositories keep their runs.\n\n",
			p.Bold(term.OneLine(out.State.SuperRunID)))
		p.Field("Reason", "%s", term.OneLine(reason))
		if out.Gate != "" {
			p.Field("Gate", "%s waits no more", term.OneLine(out.Gate))
		}
		printActions(p, out.Next)
	})
	return nil
}
