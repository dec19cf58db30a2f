// intake: look at the work that people have given to the run.

package cli

import (
	"context"
	"strconv"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/intake"
)

func newIntakeCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "intake", Category: shared.CategoryLook, Usage: "show intents: work that people gave to the run",
		Description: "An intent is work that a person approved, with git agentxchain inject or the reference CLI, " +
			"and the items that its result must answer.",
		Subcommands: []*ucli.Command{
			{
				Name: "list", Usage: "list all intents, newest first",
				Action: func(c *ucli.Context) error { return runIntakeList(c.Context, f) },
			},
			{
				Name: "show", ArgsUsage: "INTENT",
				Usage:  "show one intent: its charter, its items and what became of it",
				Action: func(c *ucli.Context) error { return runIntakeShow(c.Context, f, c.Args().First()) },
			},
		},
	}
}

func runIntakeList(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	all, err := r.Intents(ctx)
	if err != nil {
		return err
	}
	rows := ojson.List(all, shared.IntentObject)
	f.Out.Emit(ojson.NewObject("intents", rows), func(p *term.Printer) {
		if len(all) == 0 {
			p.Println("There are no intents.")
			return
		}
		t := &term.Table{Header: []string{"INTENT", "PRIORITY", "STATUS", "ITEMS", "TURN", "CHARTER"}, Flex: 5}
		for _, x := range all {
			d := x.Document
			t.Row(d.String("intent_id"), d.String("priority"), intentStatus(x),
				strconv.Itoa(len(d.Strings("acceptance_contract"))),
				d.String("target_turn"), d.String("charter"))
		}
		p.Table(t)
	})
	return nil
}

func runIntakeShow(ctx context.Context, f *term.Factory, id string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	all, err := r.Intents(ctx)
	if err != nil {
		return err
	}
	for _, x := range all {
		if x.Document.String("intent_id") != id {
			continue
		}
		o := shared.IntentObject(x)
		o.Set("document", x.Document)
		o.Set("event", nil)
		if x.Event != nil {
			o.Set("event", x.Event)
		}
		f.Out.Emit(o, func(p *term.Printer) { printIntent(p, x) })
		return nil
	}
	return term.Errorf(wire.CodeNotFound, "there is no intent %q",
		term.OneLine(id)).WithHint("git agentxchain intake list")
}

// intentStatus returns the status of an intent in a word or two.
func intentStatus(x *intake.Intent) string {
	status := x.Document.String("status")
	if intents.Open(x.Document) && !x.Waits && x.Turn == "" {
		return status + ", of another run"
	}
	return status
}

func printIntent(p *term.Printer, x *intake.Intent) {
	d := x.Document
	p.Field("Intent", "%s %s", p.Bold(term.OneLine(d.String("intent_id"))), term.OneLine(intentStatus(x)))
	p.Field("Priority", "%s", term.OneLine(d.String("priority")))
	if s := d.String("approved_by"); s != "" {
		p.Field("Approved by", "%s", term.OneLine(s))
	}
	if x.Event != nil {
		p.Field("From", "%s, %s", term.OneLine(x.Event.String("source")), term.OneLine(x.Event.String("category")))
	}
	if !x.Recorded {
		p.Field("Record", "none; the file is all there is")
	}
	for _, m := range [][2]string{{"Phase", "phase_scope"}, {"Role", "preferred_role"}, {"Run", "target_run"},
		{"Turn", "target_turn"}} {
		if s := d.String(m[1]); s != "" {
			p.Field(m[0], "%s", term.OneLine(s))
		}
	}
	p.Field("Charter", "%s", term.OneLine(d.String("charter")))
	for _, item := range d.Strings("acceptance_contract") {
		p.Field("Acceptance", "%s", term.OneLine(item))
	}
	for _, h := range d.Objects("history") {
		p.Field("Since", "%s %s: %s", term.OneLine(h.String("at")), term.OneLine(h.String("to")),
			term.OneLine(run.Clip(h.String("reason"), 200)))
	}
}
