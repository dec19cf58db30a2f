// multi new: lay out the workspace of an initiative.

package multi

import (
	"context"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func newMultiNewCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "new", Usage: "write agentxchain-multi.json for an initiative", ArgsUsage: "[NAME=]PATH...",
		Description: "Run it in the directory that will be the workspace; paths are relative to it. The repositories must be governed projects with the same phases, and are only read. The file has one workstream for each phase, with all repositories, and names you as the person who approves the gates. Change it as needed before multi init.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "name", Usage: "name of the initiative (`TEXT`); by default that of the directory"},
		},
		Action: func(c *ucli.Context) error {
			if c.NArg() == 0 {
				return term.UsageErrorf("which repositories take part? git agentxchain multi new ../api ../web")
			}
			return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				return runMultiNew(c.Context, f, co, coordinator.NewOptions{Name: c.String("name"), Repos: c.Args().Slice()})
			})
		},
	}
}

func runMultiNew(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, opt coordinator.NewOptions) error {
	out, err := co.New(ctx, opt)
	if err != nil {
		return err
	}
	cfg := out.Config
	repos := []*ojson.Object{}
	for id, r := range cfg.Repos.All() {
		repos = append(repos, ojson.NewObject("repo_id", id, "path", r.Path))
	}
	approvers := []string{}
	if r := cfg.GateRule("initiative_ship"); r != nil {
		approvers = append(approvers, r.Principals...)
	}
	next := "git agentxchain multi init"
	if out.Recorded {
		next = "git add " + strings.Join(out.Written, " ") + " && git commit -m 'An initiative' && " + next
	}
	payload := ojson.NewObject("project_id", cfg.ProjectID, "repos", repos, "phases", cfg.Phases(),
		"workstreams", cfg.Workstreams.Keys(), "approvers", approvers, "written", out.Written, "next_action", next)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("Wrote %s.\n\n", strings.Join(out.Written, " and "))
		p.Field("Initiative", "%s", p.Bold(term.OneLine(cfg.ProjectName)))
		p.Field("Repositories", "%s", term.OneLine(strings.Join(cfg.Repos.Keys(), ", ")))
		p.Field("Workstreams", "%s", term.OneLine(strings.Join(cfg.Workstreams.Keys(), ", ")))
		if len(approvers) > 0 {
			p.Field("Gates", "approved by %s", term.OneLine(wire.ListSome(approvers, 3)))
		} else {
			p.Field("Gates", "approved by any person")
		}
		p.Field("Next", "%s", p.Bold(term.OneLine(next)))
	})
	return nil
}
