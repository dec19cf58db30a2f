// multi restore: go on with an initiative in this workspace.

package multi

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

type multiRestoreOptions struct {
	coordinator.RestoreOptions
	Input string // a path; - is standard input, "" for none
}

func newMultiRestoreCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "restore", ArgsUsage: "[SUPER_RUN]", Usage: "continue an initiative in this workspace",
		Description: "Writes the coordinator's files from the record of initiative SUPER_RUN, by default the newest that has not ended. " +
			"With --input they come from an export artifact. They are verified first, and each acceptance must be in the record of its repository here: " +
			"synchronise the repositories first. If two machines continued the initiative, --theirs takes the remote's record.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "input", Usage: "read the artifact `FILE`, - for standard input"},
			&ucli.StringFlag{Name: "theirs",
				Usage: "if both sides continued, take the record of `REMOTE`; the changes here are kept"},
			&ucli.BoolFlag{Name: "dry-run", Usage: "check everything and show what would be restored; change nothing"},
		},
		Action: func(c *ucli.Context) error {
			o := &multiRestoreOptions{Input: c.String("input")}
			o.Theirs, o.DryRun = c.String("theirs"), c.Bool("dry-run")
			if o.Name = c.Args().First(); o.Input != "" && (o.Name != "" || o.Theirs != "") {
				return term.UsageErrorf(
					"--input brings the initiative of the artifact; it takes neither SUPER_RUN nor --theirs")
			}
			for _, name := range []string{"input", "theirs"} {
				if c.IsSet(name) && c.String(name) == "" {
					return term.UsageErrorf("--%s is empty", name)
				}
			}
			return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				return runMultiRestore(c.Context, f, co, o)
			})
		},
	}
}

func runMultiRestore(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, o *multiRestoreOptions) error {
	if o.Input != "" {
		_, src, _, err := shared.OpenArtifact(f, o.Input)
		if err != nil {
			return err
		}
		defer func() { _ = src.Close() }()
		defer shared.Frugal()()
		if o.Files, err = restore.InitiativeFiles(ctx, src); err != nil {
			return err
		}
	}
	r, err := co.Restore(ctx, o.RestoreOptions)
	if err != nil {
		return err
	}
	payload := ojson.NewObject("super_run_id", r.Name, "status", string(r.Status), "phase", r.Phase, "op",
		ojson.OrNull(string(r.Op)),
		"from", r.From, "done", r.Done, "dry_run", o.DryRun, "unchanged", r.Same, "kept", ojson.OrNull(r.Kept),
		"lost_ref", ojson.OrNull(r.Lost))
	actionObjects(payload, r.Next)
	f.Out.Emit(payload, func(p *term.Printer) {
		head := "Restored initiative %s from %s.\n"
		switch {
		case !r.Done:
			head = "Would restore initiative %s from %s.\n"
		case r.Same:
			head = "Initiative %s is in place as %s has it.\n"
		}
		p.Printf(head, p.Bold(term.OneLine(r.Name)), term.OneLine(r.From))
		p.Field("Status", "%s", initiativeStatus(p, r.Status))
		p.Field("Phase", "%s", term.OneLine(r.Phase))
		if r.Kept != "" {
			p.Field("Kept", "what was there before is in %s", term.OneLine(r.Kept))
		}
		if r.Lost != "" {
			p.Field("Kept", "the changes that were here are at %s", term.OneLine(r.Lost))
		}
		printActions(p, r.Next)
	})
	return nil
}
