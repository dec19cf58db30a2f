// timeline: the picture of a run.

package look

import (
	"context"
	"io"
	"iter"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

type timelineOptions struct {
	Run, Phase string
	SVG        bool
}

func NewTimelineCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "timeline",
		Category:  shared.CategoryLook,
		ArgsUsage: "[RUN]",
		Usage:     "draw a run: who worked when, what was sent back, who opened which gate",
		Description: "Draws a lane for each role and one for gates. Attempts of a turn are parts of its bar, and " +
			"times without work are shortened. The default is a drawing in characters; --svg writes an image for a " +
			"browser: git agentxchain timeline --svg > run.svg",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "run", Usage: "the `RUN` (same as the argument); the current one by default"},
			&ucli.StringFlag{Name: "phase", Usage: "only this `PHASE`"},
			&ucli.BoolFlag{Name: "svg", Usage: "write an SVG image"},
			&ucli.BoolFlag{Name: "ascii", Usage: "draw with characters (the default)"},
		},
		Action: shared.OnOne("run", "run", func(c *ucli.Context, run string) error {
			if c.Bool("svg") && (c.Bool("ascii") || f.JSON()) {
				return term.UsageErrorf("--svg, --ascii and --json are three forms of the picture; take one")
			}
			return runTimeline(c.Context, f, &timelineOptions{Run: run, Phase: c.String("phase"), SVG: c.Bool("svg")})
		}),
	}
}

func runTimeline(ctx context.Context, f *term.Factory, o *timelineOptions) error {
	p, err := recordedPicture(ctx, f, o)
	if err != nil {
		return err
	}
	d := timeline.Draw(p)
	if o.SVG {
		_, err := io.WriteString(f.Out.Raw(), d.SVG(timeline.Look{Alone: true}))
		return err
	}
	f.Out.Page(ctx)
	f.Out.Emit(p.Object(), func(pr *term.Printer) {
		pr.Printf("%s", d.ASCII(80))
		rows, left := d.Rows(shared.DefaultRows)
		if len(rows) == 0 {
			return
		}
		pr.Println()
		if left > 0 {
			pr.Printf("The newest of %s; --phase shows one phase, --json all of it.\n",
				term.Counted(left+len(rows), "line"))
		}
		t := &term.Table{Header: []string{"BEGUN (UTC)", "WHAT", "ROLE", "OUTCOME", "TOOK", "WHY"}, Flex: 5}
		for _, r := range rows {
			t.Row(r.Cells[0][5:], r.Cells[1], r.Cells[2], r.Cells[4], r.Cells[5], r.Cells[7])
		}
		pr.Table(t)
	})
	return nil
}

// recordedPicture reads a run's ledgers as they are recorded.
func recordedPicture(ctx context.Context, f *term.Factory, o *timelineOptions) (*timeline.Picture, error) {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	rec, err := r.OpenRun(ctx, o.Run, "")
	if err != nil {
		return nil, err
	}
	facts, err := timeline.Facts(func(l wire.Ledger) iter.Seq2[*ojson.Object, error] {
		return func(yield func(*ojson.Object, error) bool) {
			for line, err := range rec.Rows(l) {
				if !yield(line.Row, err) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	p := timeline.Build(facts, timeline.Options{Run: rec.Run, Phase: o.Phase, Now: f.Now()})
	if o.Phase != "" && len(p.Phases) == 0 {
		return nil, term.Errorf("not_found", "run %s was never in phase %s", term.OneLine(rec.Run),
			term.OneLine(o.Phase)).
			WithHint("git agentxchain timeline " + term.OneLine(rec.Run))
	}
	return p, nil
}
