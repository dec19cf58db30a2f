// serve --init: a project that can answer a solve at once, with a scripted agent.

package neighbours

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/demo"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// runServeInit writes agentxchain.json and the agent, and serves nothing. It leaves existing files
// alone.
func runServeInit(ctx context.Context, f *term.Factory) error {
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	for _, name := range []string{wire.ConfigPath, demo.AgentFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			return term.Errorf("file_exists", "%s is there already; it is left as it is", name).
				WithHint("git agentxchain serve --init is for a directory without a project; docs/serve.md says what the service needs")
		}
	}
	p, err := runner.InitProject(ctx, dir, runner.ProjectOptions{Name: filepath.Base(dir),
		Config: demo.ScriptedConfig(filepath.Base(dir))})
	if err != nil {
		return err
	}
	if err := durable.WriteFile(dir, demo.AgentFile, demo.Agent(), 0o755); err != nil {
		return term.Errorf("io_failed", "the agent cannot be written: %w", err)
	}
	steps := []string{p.Commit(demo.AgentFile), "git agentxchain hooks trust",
		"git agentxchain serve"}
	payload := ojson.NewObject("project_id", p.Config.Project.ID, "created", append(p.Created, demo.AgentFile),
		"updated", wire.NonNil(p.Updated), "next_action", ojson.NewObject("command", steps[0],
			"reason", "A solve begins at the commit that is checked out."))
	f.Out.Emit(payload, func(pr *term.Printer) {
		pr.Printf("A project that a scripted agent works on is set up: %s, and %s, which writes the intent into notes.md.\n\nNext:\n", wire.ConfigPath, demo.AgentFile)
		for _, s := range steps {
			pr.Printf("  %s\n", s)
		}
	})
	return nil
}
