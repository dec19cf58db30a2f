// fsck: everything that a run rests on, checked, and proven by replay.

package prove

import (
	"context"
	"slices"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func NewFsckCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "fsck", Category: shared.CategoryTrust, Usage: "check the recorded operations and the working files",
		Description: "Checks the objects, the chain of operations, the ledgers along it, the evidence, and the " +
			"working files, which it reads whole. With --replay it applies every operation again and compares the " +
			"outcome with the record. Exit status 12 if a record or ledger cannot be trusted, 1 for other " +
			"findings. fsck changes nothing; each finding names the command that repairs it. In a bare repository, " +
			"such as a server's, it checks or compares every run there, and no working files. In the workspace of an " +
			"initiative it checks the record of that and its files; each repository checks its own run.\n\n" +
			"With --against SIDE it compares the runs here with those of a remote, a git bundle or an export, and " +
			"takes nothing over. Exit status 12 if a run there went back, was rewritten or is not valid, 1 if both " +
			"sides have new operations, 0 if they are equal or only one is ahead.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "replay", Usage: "apply every operation again and compare"},
			&ucli.StringFlag{Name: "run", Usage: "check this `RUN` instead of the current one"},
			&ucli.BoolFlag{Name: "all-runs", Usage: "check every recorded run"},
			&ucli.StringFlag{
				Name:  "against",
				Usage: "compare the runs here with those of `SIDE`: a remote, a git bundle, or an export",
			},
		},
		Action: func(c *ucli.Context) error {
			if c.IsSet("against") {
				if c.Bool("replay") || c.Bool("all-runs") {
					return term.UsageErrorf(
						"--against compares every run and replays what is new there: --replay and --all-runs go without it")
				}
				return runFsckAgainst(c.Context, f, c.String("against"), c.String("run"))
			}
			o := runner.FsckOptions{Run: c.String("run"), Replay: c.Bool("replay")}
			if c.Bool("all-runs") {
				if o.Run != "" {
					return term.UsageErrorf("--run and --all-runs cannot be used together")
				}
				o.Run = "*"
			} else if o.Run == "*" {
				return term.UsageErrorf("--run takes the id of a run; --all-runs checks every one")
			}
			return runFsck(c.Context, f, o)
		},
	}
}

// checked is what fsck checks: the project around the directory, or the runs in a repository without a work
// tree.
type checked struct {
	runner.Checks
	bare bool
}

func openFsck(ctx context.Context, f *term.Factory) (*checked, error) {
	r, err := shared.Open(ctx, f)
	if err == nil {
		return &checked{Checks: r.Record()}, nil
	}
	if !runner.IsBare(err) {
		return nil, err
	}
	dir, err := f.Dir()
	if err != nil {
		return nil, err
	}
	bare, err := runner.OpenBare(ctx, dir)
	if err != nil {
		return nil, err
	}
	f.CloseAtEnd(bare)
	return &checked{Checks: bare, bare: true}, nil
}

func runFsck(ctx context.Context, f *term.Factory, o runner.FsckOptions) error {
	if coordinator.IsWorkspace(f.Dir()) {
		return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
			report, err := co.Fsck(ctx, o.Run)
			if err != nil {
				return err
			}
			return toldFsck(f, report, false, "No initiative is recorded here")
		})
	}
	s, err := openFsck(ctx, f)
	if err != nil {
		return err
	}
	var progress *term.Progress
	o.Progress = func(done, total int) {
		if progress == nil || progress.Total != total {
			progress = f.Out.Progress("Checking operations", total)
		}
		progress.Step(done)
	}
	if s.bare && o.Run == "" {
		o.Run = "*"
	}
	report, err := s.Fsck(ctx, o)
	if err == nil && report.Runs == 0 && o.Run == "" {
		// For a work tree that is in no run, such as a fresh clone, the record is checked.
		o.Run = "*"
		report, err = s.Fsck(ctx, o)
	}
	if progress != nil {
		progress.Done()
	}
	if err != nil {
		return err
	}
	none := "No run is recorded here"
	if !s.bare {
		none += "; the working files were checked"
	}
	return toldFsck(f, report, o.Replay, none)
}

// toldFsck prints a report, and ends with its result; none says that nothing is recorded.
func toldFsck(f *term.Factory, report *runner.FsckReport, replay bool, none string) error {
	rows := []*ojson.Object{}
	wrong := 0
	var gravest *runner.FsckFinding // the first one that breaks the run's integrity
	for i := range report.Findings {
		v := &report.Findings[i]
		rows = append(rows, ojson.NewObject("code", v.Code, "note", v.Note,
			"integrity", !v.Note && breaksIntegrity(v.Code), "run_id", ojson.OrNull(v.Run),
			"op", ojson.OrNull(string(v.Op)), "path", ojson.OrNull(v.Path), "message", v.Message,
			"repair", ojson.OrNull(v.Repair)))
		if v.Note {
			continue
		}
		wrong++
		if gravest == nil && breaksIntegrity(v.Code) {
			gravest = v
		}
	}
	payload := ojson.NewObject("clean", report.Clean(), "runs", report.Runs, "operations", report.Ops,
		"replayed", report.Replayed, "not_replayable", report.Skipped,
		"initiatives", report.Initiatives, "changes", report.Changes, "findings", rows)
	if gravest != nil {
		// The findings are the answer; the error member only classifies it.
		e := ojson.NewObject("code", gravest.Code, "message", gravest.Message)
		if gravest.Repair != "" {
			e.Set("hint", gravest.Repair)
		}
		payload.Set("error", e)
	}
	f.Out.Emit(payload, func(p *term.Printer) { printFsck(p, report, replay, wrong, none) })
	switch {
	case gravest != nil:
		return term.ExitSilently(term.ExitIntegrity)
	case wrong > 0:
		return term.ErrFindings()
	}
	return nil
}

// breaksIntegrity distinguishes damage of what is recorded, or a contradiction to it, from mere
// disorder.
func breaksIntegrity(code string) bool {
	return term.ExitStatus(code) == term.ExitIntegrity ||
		slices.Contains([]string{runner.FindRecord, runner.FindReplay}, code)
}

func printFsck(p *term.Printer, report *runner.FsckReport, replay bool, wrong int, none string) {
	for _, v := range report.Findings {
		mark, style := "error", p.Red
		switch {
		case v.Note:
			mark, style = "note", p.Cyan
		case !breaksIntegrity(v.Code):
			mark, style = "warning", p.Yellow
		}
		where := ""
		if v.Op != "" {
			where = p.Yellow(v.Op.Short()) + " "
		}
		if v.Path != "" && !strings.Contains(v.Message, v.Path) {
			where += term.OneLine(v.Path) + ": "
		}
		p.Printf("%s %s%s %s\n", style(term.Pad(mark, 7)), where, term.OneLine(v.Message), p.Dim("["+v.Code+"]"))
		if v.Repair != "" {
			p.Printf("%s fix: %s\n", term.Pad("", 7), term.OneLine(v.Repair))
		}
	}
	what := none
	if report.Runs > 0 {
		what = term.Counted(report.Ops, "operation") + " of " + term.Counted(report.Runs, "run") + " checked"
		if replay {
			what += ", " + strconv.Itoa(report.Replayed) + " replayed"
			if report.Skipped > 0 {
				what += ", " + strconv.Itoa(report.Skipped) + " compared only"
			}
		}
	}
	if report.Initiatives > 0 {
		changes := term.Counted(report.Changes, "change") + " of " + term.Counted(report.Initiatives, "initiative") + " checked"
		if report.Runs > 0 {
			changes = what + "; " + changes
		}
		what = changes
	}
	if wrong == 0 {
		p.Printf("%s: %s\n", what, p.Green("nothing wrong"))
		return
	}
	p.Printf("%s: %s\n", what, p.Red(term.Counted(wrong, "finding")))
}
