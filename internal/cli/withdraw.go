// approve --withdraw: a person takes the last approval back.

package cli

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func runWithdraw(ctx context.Context, f *term.Factory, reason string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.Withdraw(ctx, reason)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "gate_type", out.Result.GateType,
		"gate_id", ojson.OrNull(out.Result.Gate), "from", ojson.OrNull(out.Result.From),
		"to", ojson.OrNull(out.Result.To), "approved_by", ojson.OrNull(out.Result.ApprovedBy),
		"reason", ojson.OrNull(out.Result.Reason), "dropped_turns", out.Result.Dropped)
	left := out.Result.Left
	payload.Set("votes", run.VoteRows(left))
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		gate := p.Bold(term.OneLine(out.Result.Gate))
		if out.Result.Vote {
			p.Printf("Your approval of gate %s is taken back; the gate still waits.\n\n", gate)
		} else {
			p.Printf("The approval of gate %s is taken back: the run waits at it again, in phase %s.\n\n", gate,
				term.OneLine(out.Result.From))
		}
		for _, v := range left {
			p.Field("Approved by", "%s", term.OneLine(shared.VoteText(v)))
		}
		if out.Result.Reason != "" {
			p.Field("Reason", "%s", term.OneLine(out.Result.Reason))
		}
		if len(out.Result.Dropped) > 0 {
			p.Field("Dropped", "%s", term.OneLine(strings.Join(out.Result.Dropped, ", ")))
		}
	})
	return nil
}
