// import: other tools' notes of who wrote which lines, for why to show.

package neighbours

import (
	"context"
	"maps"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/attribution/foreign"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func NewImportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "import",
		Category:  shared.CategoryNeighbours,
		ArgsUsage: "entire|git-ai [REMOTE]",
		Usage:     "show which lines agents wrote according to another tool",
		Description: "Fetches the notes of git-ai (refs/notes/ai) or the checkpoints of Entire from the remote, if " +
			"there is one, says what is in them, and makes why show it from now on, as that tool's claim. Nothing " +
			"is recorded, and no verdict depends on it: anyone can write such notes. git config --unset " +
			"agentxchain.foreign ends it.",
		Action: func(c *ucli.Context) error {
			source := strings.ToLower(c.Args().First())
			if !slices.Contains(foreign.Sources(), source) {
				return term.UsageErrorf("import takes one of %s, not %q", term.JoinComma(foreign.Sources()),
					term.OneLine(c.Args().First()))
			}
			return runImport(c.Context, f, source, c.Args().Get(1))
		},
	}
}

func runImport(ctx context.Context, f *term.Factory, source, remote string) error {
	repo, err := shared.Repository(ctx, f, runner.DiscoverRepository)
	if err != nil {
		return err
	}
	if remote, err = foreign.Fetch(ctx, repo, source, remote); err != nil {
		return err
	}
	have, err := foreign.Survey(ctx, repo, source)
	if err != nil {
		return err
	}
	if have.Commits == 0 && have.Unreadable == 0 {
		where := "in this clone"
		if remote != "" {
			where += " or on " + remote
		}
		return term.Errorf("not_found", "there is nothing of %s %s", source, term.OneLine(where)).
			WithHint("git agentxchain import " + source + " REMOTE asks another remote")
	}
	if !slices.Contains(foreign.Shown(ctx, repo), source) {
		if _, err := repo.Git.Run(ctx, nil, "config", "--add", foreign.Setting, source); err != nil {
			return err
		}
	}
	agents := ojson.List(slices.Sorted(maps.Keys(have.Agents)), func(name string) *ojson.Object {
		return ojson.NewObject("agent", ojson.OrNull(name), "commits", have.Agents[name])
	})
	payload := ojson.NewObject("source", source, "remote", ojson.OrNull(remote), "commits", have.Commits,
		"unreadable", have.Unreadable, "agents", agents)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("%s says who wrote in %s:\n", source, term.Counted(have.Commits, "commit"))
		for _, name := range slices.Sorted(maps.Keys(have.Agents)) {
			shown := term.OneLine(name)
			if shown == "" {
				shown = "no agent named"
			}
			p.Printf("  %s in %s\n", shown, term.Counted(have.Agents[name], "commit"))
		}
		if have.Unreadable > 0 {
			p.Printf("Its notes on %s cannot be read.\n", term.Counted(have.Unreadable, "commit"))
		}
		p.Println("why shows it beside its own answer, as the word of that tool: nothing of it is verified.")
	})
	return nil
}
