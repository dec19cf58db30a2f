// approve --deny: a person refuses the pending gate.

package cli

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func runDeny(ctx context.Context, f *term.Factory, reason string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	return denyWith(ctx, f, r, reason)
}

func denyWith(ctx context.Context, f *term.Factory, r *runner.Runner, reason string) error {
	out, err := r.Deny(ctx, reason)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "gate_type", out.Result.GateType, "gate_id", out.Result.Gate,
		"from", ojson.OrNull(out.Result.From), "to", ojson.OrNull(out.Result.To), "reason", out.Result.Reason)
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		p.Printf("Gate %s is denied: the run continues in phase %s.\n\n", p.Bold(term.OneLine(out.Result.Gate)),
			term.OneLine(out.Result.From))
		p.Field("Reason", "%s", term.OneLine(out.Result.Reason))
	})
	return nil
}
