// abandon: a person ends the run for good.

package cli

import (
	"context"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func newAbandonCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "abandon", Category: shared.CategoryRun, Usage: "end the run permanently",
		Description: "Drops the active turns, keeping what they had staged, and closes a gate that waits and open " +
			"requests to people. The run's record stays, and assign --new-run starts another run. abandon is " +
			"refused while a process is carrying out a turn, and inside a dispatched turn.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "reason", Usage: "why (`TEXT`); required, and recorded"},
		},
		Action: func(c *ucli.Context) error { return runAbandon(c.Context, f, c.String("reason")) },
	}
}

func runAbandon(ctx context.Context, f *term.Factory, reason string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.Abandon(ctx, reason)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "from_status", string(out.Result.From), "reason", out.Result.Reason,
		"gate_id", ojson.OrNull(out.Result.Gate), "dropped_turns", out.Result.Dropped)
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		p.Printf("Run %s is abandoned. Its record stays.\n\n", p.Bold(term.OneLine(out.Run)))
		p.Field("Reason", "%s", term.OneLine(out.Result.Reason))
		if len(out.Result.Dropped) > 0 {
			p.Field("Dropped", "%s", term.OneLine(strings.Join(out.Result.Dropped, ", ")))
		}
		if out.Result.Gate != "" {
			p.Field("Gate", "%s waits no more", term.OneLine(out.Result.Gate))
		}
	})
	return nil
}
