// The workspace of an initiative.

package shared

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// openCoordinator opens the workspace in the working directory. It looks at no directory above it,
// and forgets the repository in which a git hook has started this process: the repositories of the
// initiative are others.
func openCoordinator(f *term.Factory) (*coordinator.Coordinator, error) {
	dir, err := f.Dir()
	if err != nil {
		return nil, err
	}
	if err := runner.LeaveRepository(); err != nil {
		return nil, err
	}
	return coordinator.At(dir, coordinator.Options{Now: f.Env.Now, Getenv: f.Env.Getenv, Trust: f.Global.Trust,
		Terminal: f.Env.IsTerminal(f.Env.Stdin) && f.Env.IsTerminal(f.Env.Stderr), Background: syncInBackground})
}

// WithWorkspace opens the workspace of an initiative for a command, and prints its notices, except one that says
// what the error says.
func WithWorkspace(f *term.Factory, command func(co *coordinator.Coordinator) error) error {
	co, err := openCoordinator(f)
	if err != nil {
		return err
	}
	defer func() { _ = co.Close() }()
	err = command(co)
	TellNotices(f, slices.DeleteFunc(co.Notices(), func(n string) bool { return err != nil && n == err.Error() }))
	return Listed(f, err)
}
