// init: make a directory a governed project.

package cli

import (
	"context"
	"os"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type initOptions struct {
	Template, Goal, ID, Name string
}

func newInitCommand(f *term.Factory) *ucli.Command {
	o := &initOptions{}
	return &ucli.Command{
		Name: "init", Category: categoryStart, ArgsUsage: "[DIR]",
		Usage:       "make this directory a governed project",
		Description: "Writes agentxchain.json, the planning documents, role prompts and an idle state. All runtimes are manual, so it works without keys. Files that are already there are kept; a directory with a run is refused.",
		Flags: []ucli.Flag{
			term.NewChoiceFlag("template", "project `TEMPLATE`", "generic", scaffold.IDs()...),
			&ucli.StringFlag{Name: "goal", Usage: "what the project is to achieve (`TEXT`, at most 500 characters)", Destination: &o.Goal},
			&ucli.StringFlag{Name: "id", Usage: "project `ID`; the directory's name by default", Destination: &o.ID},
			&ucli.StringFlag{Name: "name", Usage: "project `NAME` as people write it", Destination: &o.Name},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "ask nothing (init never asks; accepted for habit's sake)"},
			&ucli.BoolFlag{Name: "governed", Usage: "accepted for habit's sake: every project here is governed", Hidden: true},
		},
		Action: func(c *ucli.Context) error {
			if c.NArg() > 1 {
				return term.UsageErrorf("init takes one directory, not %d", c.NArg())
			}
			o.Template = c.String("template")
			dir, err := f.Dir()
			if c.NArg() == 1 {
				dir, err = f.Path(c.Args().First())
			}
			if err != nil {
				return err
			}
			return runInit(c.Context, f, dir, o)
		},
	}
}

func runInit(ctx context.Context, f *term.Factory, dir string, o *initOptions) error {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return term.Errorf("directory_unusable", "%s is not a directory that can be entered", term.OneLine(dir)).
			WithHint("init sets up a directory of a git repository; make it first")
	}
	p, err := runner.InitProject(ctx, dir, runner.ProjectOptions{Template: o.Template, ID: o.ID, Name: o.Name, Goal: o.Goal})
	if err != nil {
		return err
	}
	payload := ojson.NewObject("project_id", p.Config.Project.ID, "template", p.Config.Template, "phases", p.Config.Phases(), "roles", p.Config.Roles.Keys(),
		"created", p.Created, "kept", wire.NonNil(p.Kept), "updated", wire.NonNil(p.Updated),
		"next_action", ojson.NewObject("command", "git add -A && git commit -m 'governed project'", "reason", "A run starts from a clean work tree."))
	f.Out.Emit(payload, func(pr *term.Printer) {
		pr.Printf("Governed project %s is set up (template %s).\n\n", pr.Bold(term.OneLine(p.Config.Project.ID)), term.OneLine(p.Config.Template))
		pr.Field("Phases", "%s", term.OneLine(joinArrow(p.Config.Phases())))
		for _, role := range p.Config.Roles.All() {
			pr.Field("Role", "%s, %s: %s", pr.Bold(term.OneLine(role.ID)), term.OneLine(role.WriteAuthority), term.OneLine(role.Mandate))
		}
		pr.Field("Written", "%s", counted(len(p.Created), "file"))
		if len(p.Updated) > 0 {
			pr.Field("Extended", "%s", term.OneLine(joinComma(p.Updated)))
		}
		if len(p.Kept) > 0 {
			pr.Field("Kept", "%s", term.OneLine(joinComma(p.Kept)))
		}
		pr.Printf("\nNext:\n  git add -A && git commit -m 'governed project'\n  git agentxchain assign\n")
	})
	return nil
}
