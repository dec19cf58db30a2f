// demo: a whole governed run in a scratch repository.

package cli

import (
	"context"
	"os"
	"path/filepath"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/demo"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newDemoCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "demo", Category: shared.CategoryStart, Usage: "play a whole governed run in a scratch repository",
		Description: "Scripted participants go through planning, implementation and qa and really edit files: a " +
			"refused result and its retry, a gate that fails and then passes, approvals by a person, completion, " +
			"and fsck with replay. The demo removes the repository afterwards, unless --keep is given.",
		Flags: []ucli.Flag{&ucli.BoolFlag{
			Name:  "keep",
			Usage: "keep the scratch repository and print where it is",
		}},
		Action: func(c *ucli.Context) error { return runDemo(c.Context, f, c.Bool("keep")) },
	}
}

func runDemo(ctx context.Context, f *term.Factory, keep bool) (err error) {
	if err := runner.LeaveRepository(); err != nil {
		return err
	}
	top, err := os.MkdirTemp("", "agentxchain-demo-")
	if err != nil {
		return term.Errorf("io_failed", "cannot make a scratch directory: %w", err).
			WithHint("set TMPDIR to a directory in which you may create files, then again")
	}
	defer func() {
		if !keep {
			_ = os.RemoveAll(top)
		}
	}()
	dir := filepath.Join(top, "greeter")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return term.Errorf("io_failed", "cannot make a scratch directory: %w", err)
	}
	p := f.Out.Printer()
	begin := f.Now()
	timeline := []*ojson.Object{}
	out, err := demo.Run(ctx, demo.Options{Dir: dir, Now: f.Env.Now, Tell: func(m demo.Moment) {
		mark, style := "  ", p.Dim
		switch m.Kind {
		case demo.Passed:
			mark, style = "ok", p.Green
		case demo.Refused:
			mark, style = "no", p.Red
		}
		p.Printf("%s %s %s %s\n", p.Dim(term.Pad(f.Now().Sub(begin).Truncate(time.Millisecond).String(), 6)),
			style(mark), p.Bold(term.Pad(m.Who, 11)), term.OneLine(m.What))
		if m.Detail != "" {
			p.Printf("%s %s\n", term.Pad("", 21), p.Dim(term.OneLine(m.Detail)))
		}
		timeline = append(timeline, ojson.NewObject("who", m.Who, "what", m.What, "detail", ojson.OrNull(m.Detail),
			"outcome", []string{"done", "passed", "refused"}[m.Kind]))
	}})
	if err != nil {
		return err
	}
	payload := ojson.NewObject("run_id", out.Run, "status", string(out.State.Status), "operations", out.Ops,
		"replayed", out.Replayed, "accepted_turns", out.Accepted,
		"timeline", timeline, "directory", nil)
	if keep {
		payload.Set("directory", dir)
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("\nRun %s completed: %s accepted, %s in its chain.\n", p.Bold(out.Run),
			term.Counted(out.Accepted, "turn"), term.Counted(out.Ops, "operation"))
		if keep {
			p.Printf("It is kept in %s; try there:\n  git agentxchain status\n  git agentxchain log\n  git agentxchain history\n", dir)
		}
	})
	return nil
}
