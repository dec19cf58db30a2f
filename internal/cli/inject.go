// inject: give approved work to the run.

package cli

import (
	"context"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newInjectCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "inject",
		Category:  shared.CategoryRun,
		ArgsUsage: "DESCRIPTION",
		Usage:     "give the run a piece of work that its next turns must answer",
		Description: "Such a piece of work is called an intent. By injecting it you approve it. An intent of " +
			"priority p0 goes to the next turn, before delegated and planned work; any other waits for a turn that " +
			"has neither. A result that leaves an acceptance item unanswered is refused. If no run has begun, the " +
			"next one takes the intent. inject is refused inside a dispatched turn.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "priority", Value: "p0", Usage: "how urgent it is: `PRIORITY` p0 to p3"},
			&ucli.StringSliceFlag{
				Name:  "acceptance",
				Usage: "what the result must answer (`ITEMS`, separated by commas; may be repeated); DESCRIPTION by default",
			},
			&ucli.StringFlag{Name: "charter", Usage: "what the turn is told to do (`TEXT`); DESCRIPTION by default"},
			&ucli.StringFlag{Name: "for", Usage: "the `ROLE` to do it"},
			&ucli.StringFlag{
				Name:  "phase",
				Usage: "the `PHASE` it belongs to: it is given out there, and dropped when the phase is left",
			},
			&ucli.StringFlag{
				Name:  "template",
				Value: "generic",
				Usage: "the `TEMPLATE` by which the reference CLI plans it",
			},
			&ucli.StringFlag{Name: "approver", Value: "human", Usage: "who approved it (`NAME`), for the record"},
		},
		Action: func(c *ucli.Context) error {
			spec := &runner.IntentSpec{
				Description: c.Args().First(),
				Priority:    c.String("priority"),
				Template:    c.String("template"),
				Charter:     c.String("charter"),
				Phase:       c.String("phase"),
				Role:        c.String("for"),
				Approver:    c.String("approver"),
			}
			for _, list := range c.StringSlice("acceptance") {
				for item := range strings.SplitSeq(list, ",") {
					if item = strings.TrimSpace(item); item != "" {
						spec.Acceptance = append(spec.Acceptance, item)
					}
				}
			}
			return runInject(c.Context, f, spec)
		},
	}
}

func runInject(ctx context.Context, f *term.Factory, spec *runner.IntentSpec) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.Inject(ctx, spec)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	n := r.Next(ctx)
	doc := out.Intent
	payload := ojson.NewObject("intent_id", doc.String("intent_id"), "event_id", doc.String("event_id"),
		"status", doc.String("status"),
		"priority", doc.String("priority"), "deduplicated", out.Duplicate,
		"preemption_marker", !out.Duplicate && doc.String("priority") == "p0",
		"run_id", ojson.OrNull(out.Run), "op", ojson.OrNull(string(out.Op)), "intent", doc,
		"next_action", shared.NextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		switch {
		case out.Duplicate:
			p.Printf("Intent %s says the same and is not over; nothing was injected.\n", doc.String("intent_id"))
		case out.Run == "":
			p.Printf("Intent %s waits for the next run.\n", p.Bold(doc.String("intent_id")))
		default:
			p.Printf("Intent %s is recorded (operation %s).\n", p.Bold(doc.String("intent_id")),
				p.Yellow(out.Op.Short()))
		}
		p.Println()
		p.Field("Priority", "%s", term.OneLine(doc.String("priority")))
		p.Field("Charter", "%s", term.OneLine(doc.String("charter")))
		for _, item := range doc.Strings("acceptance_contract") {
			p.Field("Acceptance", "%s", term.OneLine(item))
		}
		shared.PrintNext(p, n)
	})
	return nil
}
