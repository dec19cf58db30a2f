// escalations: the cases in which runs needed a person.

package look

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func NewEscalationsCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "escalations", Category: shared.CategoryLook, Usage: "list what runs need a person for",
		Description: "Newest first. Resolve an open one with unblock, approve, or whatever it names as the way " +
			"out. HUMAN_TASKS.md has the same list.",
		Flags: []ucli.Flag{
			shared.LimitFlag("show the newest `N`, 0 for all"),
			&ucli.BoolFlag{Name: "all-runs", Usage: "those of every run, not only the current one"},
			&ucli.BoolFlag{Name: "open", Usage: "only unresolved ones"},
		},
		Action: func(c *ucli.Context) error {
			o, err := listFrom(c)
			if err != nil {
				return err
			}
			return runEscalations(c.Context, f, o, c.Bool("open"))
		},
	}
}

func runEscalations(ctx context.Context, f *term.Factory, o listOptions, open bool) error {
	// A resolution may be anywhere after its escalation, so all rows are read.
	rows, err := readRows(ctx, f, wire.LedgerEscalations, listOptions{All: o.All}, nil)
	if err != nil {
		return err
	}
	list := []*ojson.Object{}
	for _, e := range run.ListEscalations(rows) {
		if (o.Limit == 0 || len(list) < o.Limit) && (!open || e.String("status") == "open") {
			list = append(list, e)
		}
	}
	f.Out.Emit(ojson.NewObject("escalations", list), func(p *term.Printer) {
		if len(list) == 0 {
			p.Println(shared.Nothing(open, "No person has been asked for yet.", "No escalation is open."))
			return
		}
		t := &term.Table{Header: []string{"ESCALATION", "STATUS", "TYPE", "RAISED", "BLOCKED ON", "DETAIL"}, Flex: 5}
		for _, e := range list {
			t.Row(e.String("escalation_id"), e.String("status"), e.String("type"),
				shared.Ago(p, e.String("created_at")), e.String("blocked_on"), e.String("detail"))
			if e.String("status") == "open" {
				t.Emphasise(1, p.Yellow)
			}
		}
		p.Table(t)
	})
	return nil
}
