// multi init: start an initiative over the repositories of a workspace.

package multi

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func newMultiInitCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "init", Usage: "start the initiative of agentxchain-multi.json",
		Description: "Joins the active run of each repository, and starts one where there is none. Checks all repositories first: if a required one cannot take part, none is changed. Never replaces an initiative that has not ended.",
		Action: func(c *ucli.Context) error {
			return shared.WithWorkspace(f,
				func(co *coordinator.Coordinator) error { return runMultiInit(c.Context, f, co) })
		},
	}
}

func runMultiInit(ctx context.Context, f *term.Factory, co *coordinator.Coordinator) error {
	out, err := co.Init(ctx)
	if err != nil {
		return err
	}
	runs := ojson.NewObject()
	for repo, r := range out.State.RepoRuns.All() {
		runs.Set(repo, ojson.Marshal(r))
	}
	left := []*ojson.Object{}
	for _, p := range out.Optional {
		left = append(left, ojson.NewObject("code", p.Code, "repo_id", ojson.OrNull(p.Value), "message", p.Message))
	}
	printProblems(f, out.Optional)
	f.Out.Emit(ojson.NewObject("super_run_id", out.State.SuperRunID, "repo_runs", runs, "phase", out.State.Phase,
		"optional_problems", left), func(p *term.Printer) {
		p.Printf("Coordinator run initialized: %s\n\n", p.Bold(out.State.SuperRunID))
		t := &term.Table{Header: []string{"REPOSITORY", "RUN", "PHASE", ""}, Flex: -1}
		for repo, r := range out.State.RepoRuns.All() {
			t.Row(repo, out.State.RunOf(repo), r.Phase, r.Status)
		}
		p.Table(t)
		p.Println()
		p.Field("Phase", "%s", term.OneLine(out.State.Phase))
		p.Field("Next", "%s", p.Bold("git agentxchain multi step"))
	})
	return nil
}
