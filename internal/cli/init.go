// init: make a directory a governed project.

package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/project"
)

type initOptions struct {
	Template, Goal, ID, Name, Agent string
}

func newInitCommand(f *term.Factory) *ucli.Command {
	o := &initOptions{}
	return &ucli.Command{
		Name: "init", Category: shared.CategoryStart, ArgsUsage: "[DIR]",
		Usage: "make this directory a governed project",
		Description: "Writes agentxchain.json, the planning documents, role prompts and an idle state. " +
			"--agent binds every role to an agent on this machine: " + strings.Join(scaffold.AgentIDs(), ", ") +
			", or a command, " +
			"which reads the prompt from standard input or takes it in place of {prompt}. Without --agent people " +
			"play every role, so no keys are needed; only the template full-local-cli then uses claude. At a " +
			"terminal, init asks if it finds an agent. Existing files are kept; a directory with a run is refused.",
		Flags: []ucli.Flag{
			term.NewChoiceFlag("template", "project `TEMPLATE`", "generic", scaffold.IDs()...),
			&ucli.StringFlag{
				Name:        "agent",
				Usage:       "bind every role to this `AGENT`, a name or a command",
				Destination: &o.Agent,
			},
			&ucli.StringFlag{
				Name:        "goal",
				Usage:       "what the project is to achieve (`TEXT`, at most 500 characters)",
				Destination: &o.Goal,
			},
			&ucli.StringFlag{Name: "id", Usage: "project `ID`; the directory's name by default", Destination: &o.ID},
			&ucli.StringFlag{Name: "name", Usage: "project `NAME` as people write it", Destination: &o.Name},
			&ucli.BoolFlag{
				Name:    "yes",
				Aliases: []string{"y"},
				Usage:   "ask nothing: without --agent people play every role",
			},
			&ucli.BoolFlag{
				Name:   "governed",
				Usage:  "accepted for compatibility: every project here is governed",
				Hidden: true,
			},
		},
		Action: func(c *ucli.Context) error {
			o.Template = c.String("template")
			if c.IsSet("agent") && strings.TrimSpace(o.Agent) == "" {
				return term.UsageErrorf("--agent needs a name or a command: %s",
					strings.Join(scaffold.AgentIDs(), ", "))
			}
			dir, err := f.Dir()
			if c.NArg() == 1 {
				dir, err = f.Path(c.Args().First())
			}
			if err != nil {
				return err
			}
			if o.Agent == "" && !c.Bool("yes") && scaffold.DefaultAgent(o.Template) == "" {
				if err := askAgent(c.Context, f, o); err != nil {
					return err
				}
			}
			return runInit(c.Context, f, dir, o)
		},
	}
}

// askAgent asks which installed agent plays the roles. It asks nothing when there is none, or no
// terminal.
func askAgent(ctx context.Context, f *term.Factory, o *initOptions) error {
	if !f.Interactive() {
		return nil
	}
	here := project.InstalledAgents()
	if len(here) == 0 {
		return nil
	}
	for {
		answer, err := f.Prompt.Line(ctx,
			"Who carries out the turns: "+strings.Join(here, ", ")+", or people? [people]", "--agent or --yes")
		answer = strings.ToLower(answer)
		switch {
		case err != nil:
			return err
		case answer == "" || answer == "people":
			return nil
		case slices.Contains(here, answer):
			o.Agent = answer
			return nil
		}
		f.Out.Notice("%s is not one of these. For another program: git agentxchain init --agent \"COMMAND\"", term.OneLine(answer))
	}
}

func runInit(ctx context.Context, f *term.Factory, dir string, o *initOptions) error {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return term.Errorf("directory_unusable", "%s is not a directory that can be entered", term.OneLine(dir)).
			WithHint("init sets up a directory of a git repository; make it first")
	}
	p, err := runner.InitProject(ctx, dir, runner.ProjectOptions{
		Template: o.Template,
		ID:       o.ID,
		Name:     o.Name,
		Goal:     o.Goal,
		Agent:    o.Agent,
	})
	if err != nil {
		return err
	}
	if repo, err := runner.DiscoverRepository(ctx, p.Dir); err == nil {
		terr := runner.TrackRuns(ctx, repo)
		_ = repo.Close()
		if terr != nil {
			return terr
		}
	}
	if p.SameID != "" {
		f.Out.Notice("warning: %s", p.SameID)
	}
	next := []string{p.Commit()}
	runtimes := p.Config.Runtimes.Keys()
	if p.Agent != "" {
		next = append(next, "git agentxchain hooks trust", "git agentxchain run")
	} else {
		next = append(next, "git agentxchain assign")
	}
	payload := ojson.NewObject("project_id", p.Config.Project.ID, "template", p.Config.Template,
		"phases", p.Config.Phases(), "roles", p.Config.Roles.Keys(), "runtimes", runtimes,
		"created", p.Created, "kept", wire.NonNil(p.Kept), "updated", wire.NonNil(p.Updated),
		"ignored", p.Ignored.Names(),
		"next_action", ojson.NewObject("command", next[0], "reason", "A run starts from a clean work tree."))
	f.Out.Emit(payload, func(pr *term.Printer) {
		pr.Printf("Governed project %s is set up (template %s).\n\n", pr.Bold(term.OneLine(p.Config.Project.ID)),
			term.OneLine(p.Config.Template))
		pr.Field("Phases", "%s", term.OneLine(term.JoinArrow(p.Config.Phases())))
		for _, role := range p.Config.Roles.All() {
			pr.Field("Role", "%s, %s: %s", pr.Bold(term.OneLine(role.ID)), term.OneLine(role.WriteAuthority),
				term.OneLine(role.Mandate))
		}
		pr.Field("Written", "%s", term.Counted(len(p.Created), "file"))
		if len(p.Updated) > 0 {
			pr.Field("Extended", "%s", term.OneLine(term.JoinComma(p.Updated)))
		}
		if len(p.Kept) > 0 {
			pr.Field("Kept", "%s", term.OneLine(term.JoinComma(p.Kept)))
		}
		if len(p.Ignored) > 0 {
			pr.Field("Note", "git ignores %s (%s), which the project needs: take the rule away, or add them as below",
				wire.ListSome(p.Ignored.Names(), 3), term.OneLine(p.Ignored[0].Rule))
		}
		if p.Other {
			pr.Field("Note", "other work here is not committed, and stays so; a turn that writes files starts from a clean work tree")
		}
		if p.Agent != "" {
			rt, _ := p.Config.Runtimes.Get(runtimes[0])
			pr.Field("Agent", "%s: %s", pr.Bold(term.OneLine(rt.ID)),
				term.OneLine(strings.Join(rt.Raw.Strings("command"), " ")))
			if p.AgentProblem != "" {
				pr.Field("Note", "%s", term.OneLine(p.AgentProblem))
			}
		}
		pr.Printf("\nNext:\n  %s\n", strings.Join(next, "\n  "))
	})
	return nil
}
