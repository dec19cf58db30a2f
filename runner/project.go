// Setting up a project, and checking its documents on their own.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/runner/project"
)

// A project and its documents (runner/project).
type (
	Project        = project.Project
	ProjectOptions = project.Options
	Documents      = project.Documents
)

// InitProject makes dir a governed project. It leaves existing files as they are. It refuses where
// a run exists (code run_exists) or a configuration already exists (project_exists): a scaffold
// must never cost evidence.
func InitProject(ctx context.Context, dir string, opt ProjectOptions) (*Project, error) {
	return project.Init(ctx, dir, opt)
}

// CheckDocuments reads agentxchain.json and state.json and lists everything
// wrong with them (docs/spec/configuration.md; docs/spec/configuration.md#admission). It takes no lock and compares
// nothing with the record; that is what View does.
func (r *Runner) CheckDocuments() *Documents { return project.Check(r.store.Dir()) }
