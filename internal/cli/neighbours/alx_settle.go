// alx settle: the cost of a run, attributed in integer micro-USD.

package neighbours

import (
	"context"
	"fmt"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/settle"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func newALXSettleCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "settle", Usage: "show what a run cost, by role, runtime and turn",
		Description: "Divides the recorded cost of a run among roles, runtimes and turns, in integer millionths of " +
			"a dollar. The accepted turns share the cost of refused attempts in proportion to their own costs. The " +
			"parts of each list add up to the total: remainders go to the largest, ties to the smaller id.",
		Flags: []ucli.Flag{&ucli.StringFlag{
			Name:        "run",
			Usage:       "settle run `ID`",
			DefaultText: "the run of this work tree",
		}},
		Action: func(c *ucli.Context) error { return runALXSettle(c.Context, f, c.String("run")) },
	}
}

func runALXSettle(ctx context.Context, f *term.Factory, run string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	recorded, err := r.OpenRun(ctx, run, "")
	if err != nil {
		return err
	}
	data, err := recorded.StateBytes()
	if err != nil {
		return err
	}
	state, err := ojson.DecodeObject(data)
	if err != nil {
		return term.Errorf("invalid_state", "the recorded state cannot be read: %w", err)
	}
	var rows []*ojson.Object
	for line, err := range recorded.Rows(wire.LedgerHistory) {
		if err != nil {
			return err
		}
		if line.Row.String("run_id") == recorded.Run { // the ledger outlives runs
			rows = append(rows, line.Row)
		}
	}
	s, notes := settle.Run(rows, state.Object("budget_status").Value("spent_usd"))
	for _, n := range notes {
		f.Out.Warn("%s", term.OneLine(n))
	}
	f.Out.Emit(ojson.NewObject("runId", recorded.Run, "settlement", ojson.Marshal(s), "notes", wire.NonNil(notes)),
		func(p *term.Printer) {
			p.Field("Run", "%s", term.OneLine(recorded.Run))
			p.Field("Total", "%s", p.Bold(dollars(s.TotalMicroUSD)))
			for _, part := range []struct {
				head   string
				shares []alx.Share
			}{{"ROLE", s.Roles}, {"RUNTIME", s.Runtimes}, {"TURN", s.Turns}} {
				if len(part.shares) == 0 {
					continue
				}
				p.Println()
				t := &term.Table{Header: []string{part.head, "USD"}, Flex: 0}
				for _, share := range part.shares {
					t.Row(share.ID, dollars(share.MicroUSD))
				}
				p.Table(t)
			}
		})
	return nil
}

// dollars formats micro-USD exactly.
func dollars(micro int64) string { return fmt.Sprintf("$%d.%06d", micro/1_000_000, micro%1_000_000) }
