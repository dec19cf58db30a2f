// bisect: the operation at which a verdict changed.

package whatif

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

func NewBisectCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "bisect",
		Category:  shared.CategoryProve,
		ArgsUsage: "GATE|RULE|POLICY|CODE",
		Usage:     "find the operation at which a verdict changed",
		Description: "Judges recorded operations again, each from the recorded state before it, in a binary " +
			"search. Operations that do not judge the gate or rule are skipped. Exit status 1 if the verdict is " +
			"the same at both ends.",
		Flags: append(otherConfigFlags(),
			&ucli.StringFlag{Name: "good", Usage: "an `OP` at which the verdict was good; the first one by default"},
			&ucli.StringFlag{Name: "bad", Usage: "an `OP` at which it was not; the newest one by default"},
			&ucli.StringFlag{Name: "run", Usage: "search this `RUN`; the current one by default"}),
		Action: func(c *ucli.Context) error {
			other, err := otherConfigFrom(f, c)
			if err != nil {
				return err
			}
			of := c.Args().First()
			return runBisect(c.Context, f, &lookback.BisectOptions{
				Of:     of,
				IsCode: codeMeaning(of) != nil,
				Run:    c.String("run"),
				Good:   c.String("good"),
				Bad:    c.String("bad"),
				Other:  *other,
			})
		},
	}
}

func runBisect(ctx context.Context, f *term.Factory, o *lookback.BisectOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	res, err := lookback.Bisect(ctx, r, o)
	if err != nil {
		return err
	}
	says := map[bool]string{true: "good", false: "bad"}
	after := res.Good != res.Found
	f.Out.Emit(ojson.NewObject("run_id", res.Run, "of", o.Of, "found", res.Found, "before", says[res.Good],
		"after", says[after],
		"op", chainOp(res.Found, res.After), "good_op", goodOp(res), "searched", res.Searched, "probes", res.Probes,
		"skipped", res.Skipped,
		"changed", res.Changed, "chains", []*ojson.Object{res.Before.Object(), res.After.Object()}),
		func(p *term.Printer) {
			if !res.Found {
				p.Printf("%s is %s at both ends, %s and %s: it did not turn between them, or turned and turned back.\n",
					p.Bold(term.OneLine(o.Of)),
					says[res.Good], shared.ShortOp(res.Before.Op), shared.ShortOp(res.After.Op))
				p.Printf("Name two operations between which it differs: git agentxchain bisect %s --good OP --bad OP\n",
					term.OneLine(o.Of))
				return
			}
			p.Printf("%s turned %s at %s (%s judged of %d).\n", p.Bold(term.OneLine(o.Of)), says[after],
				p.Bold(shared.ShortOp(res.After.Op)),
				term.Counted(res.Probes, "operation"), res.Searched)
			if res.Skipped > 0 {
				p.Printf("%s between both say nothing of it.\n", term.Counted(res.Skipped, "operation"))
			}
			bisectEnd(p, "last "+says[res.Good], res.Before)
			bisectEnd(p, "first "+says[after], res.After)
			for _, c := range res.Changed {
				p.Printf("  - %s\n", term.OneLine(c))
			}
			p.Field("Next", "git agentxchain explain %s", shared.ShortOp(res.After.Op))
		})
	if !res.Found {
		return term.ErrFindings()
	}
	return nil
}

func chainOp(found bool, c *verdict.Chain) any {
	if !found {
		return nil
	}
	return c.Op
}

func goodOp(res *lookback.BisectResult) any {
	switch {
	case !res.Found:
		return nil
	case res.Good:
		return res.Before.Op
	}
	return res.After.Op
}

func bisectEnd(p *term.Printer, label string, c *verdict.Chain) {
	p.Field(label, "%s  %s  %s, phase %s", shared.ShortOp(c.Op), term.OneLine(c.At), chainName(c),
		term.OneLine(c.Phase))
}
