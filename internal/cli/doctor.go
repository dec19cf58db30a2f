// doctor: whether this machine, this repository and this checkout let a run go on.

package cli

import (
	"context"
	"fmt"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner/doctor"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/builtin"
)

func newDoctorCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "doctor",
		Category: shared.CategoryStart,
		Usage:    "check git, configuration, run and checkout, and say how to fix what is wrong",
		Description: "Exit status 1 if there are errors; warnings and notes do not count. --fix repairs only what " +
			"cannot lose work: it removes a lock whose owner is proven dead, adds missing lines to .gitignore, and " +
			"makes the working files and the recorded run agree, as every changing command does first. It deletes " +
			"no other file. doctor looks at runtimes without using them, and asks known agents for their version. " +
			"--online also tries the runtimes that are trusted here. No agent is asked to work.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "fix", Usage: "repair what is safe to repair"},
			&ucli.BoolFlag{
				Name:  "online",
				Usage: "also try the trusted runtimes: contact their servers, start their programs",
			},
			&ucli.BoolFlag{Name: "signing", Usage: "set up signing with an SSH key, in two questions"},
			&ucli.StringFlag{
				Name:  "key",
				Usage: "with --signing: sign with the SSH key `FILE`, or with key::TYPE BASE64 of the agent",
			},
			&ucli.BoolFlag{
				Name:  "add-signer",
				Usage: "with --signing: let the key speak for your address in .agentxchain/allowed_signers",
			},
		},
		Action: func(c *ucli.Context) error {
			if c.Bool("signing") {
				if c.Bool("fix") || c.Bool("online") {
					return term.UsageErrorf("--signing goes alone, without --fix and --online")
				}
				return runDoctorSigning(c.Context, f, signingOptions{
					key:       c.String("key"),
					addSigner: c.Bool("add-signer"),
				})
			}
			if c.IsSet("key") || c.IsSet("add-signer") {
				return term.UsageErrorf("--key and --add-signer belong to --signing")
			}
			return runDoctor(c.Context, f, doctor.Options{
				Fix:     c.Bool("fix"),
				Online:  c.Bool("online"),
				Runtime: builtin.New,
			})
		},
	}
}

func runDoctor(ctx context.Context, f *term.Factory, opt doctor.Options) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	ex, err := doctor.Examine(ctx, r, opt)
	if err != nil {
		return err
	}
	rows := []*ojson.Object{}
	count := map[string]int{}
	for _, d := range ex.Findings {
		row := ojson.NewObject("area", d.Area, "level", d.Level, "message", d.Message, "fix", ojson.OrNull(d.Fix),
			"mended", d.Mended)
		if rt := d.Runtime; rt != nil {
			row.Set("runtime", ojson.NewObject("id", rt.ID, "path", ojson.OrNull(rt.Path),
				"version", ojson.OrNull(rt.Version)))
		}
		rows = append(rows, row)
		if !d.Mended {
			count[d.Level]++
		}
	}
	payload := ojson.NewObject("directory", r.Record().Dir(), "worst", ex.Worst(), "errors", count[doctor.LevelError],
		"warnings", count[doctor.LevelWarning], "findings", rows)
	session := restore.DashboardSession(r.Record().Dir())
	payload.Set("dashboard_session", session)
	f.Out.Emit(payload, func(p *term.Printer) {
		printExamination(p, ex, count)
		printDashboardSession(p, session)
	})
	if ex.Worst() == doctor.LevelError {
		return term.ErrFindings()
	}
	return nil
}

// printDashboardSession prints what is known about a dashboard, if anything.
func printDashboardSession(p *term.Printer, s *ojson.Object) {
	status := s.String("status")
	if status == "not_running" {
		return
	}
	detail := ""
	if pid, ok := s.Int("pid"); ok {
		detail += fmt.Sprintf(", process %d", pid)
	}
	if url := s.String("url"); url != "" {
		detail += ", " + term.OneLine(url)
	}
	p.Field("Dashboard", "%s%s", status, detail)
}

func printExamination(p *term.Printer, ex *doctor.Examination, count map[string]int) {
	for _, d := range ex.Findings {
		mark, style := "ok", p.Green
		switch {
		case d.Mended:
			mark = "mended"
		case d.Level == doctor.LevelNote:
			mark, style = "note", p.Cyan
		case d.Level == doctor.LevelWarning:
			mark, style = "warning", p.Yellow
		case d.Level == doctor.LevelError:
			mark, style = "error", p.Red
		}
		p.Printf("%s %s %s\n", style(term.Pad(mark, 8)), p.Dim(term.Pad(d.Area, 11)), term.OneLine(d.Message))
		if d.Fix != "" {
			lead := "fix: "
			if d.Mended {
				lead = "done: "
			}
			p.Printf("%s %s\n", term.Pad("", 20), lead+term.OneLine(d.Fix))
		}
	}
	p.Println()
	switch e, w := count[doctor.LevelError], count[doctor.LevelWarning]; {
	case e > 0:
		p.Printf("%s, %s: a run cannot continue like this.\n", p.Red(term.Counted(e, "error")),
			term.Counted(w, "warning"))
	case w > 0:
		p.Printf("%s; a run can continue.\n", p.Yellow(term.Counted(w, "warning")))
	default:
		p.Printf("%s\n", p.Green("Everything is in order."))
	}
}
