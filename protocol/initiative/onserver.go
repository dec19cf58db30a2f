// Repositories that exist only on their server: they count, but work in one needs a clone
// (docs/coordinator.md#only-on-a-server).

package initiative

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RemoteOnly means that something has to be done in a repository that exists only on its server.
const RemoteOnly = "repo_remote_only"

// onServer says that something is done elsewhere; what is a clause such as "its turns are assigned".
func onServer(repo, what string) string {
	return fmt.Sprintf("Repository %s is only on its server here; %s in a clone of it.", repo, what)
}

// OnServerHint returns the hint of a refusal: the command to run in a clone of the repository.
func OnServerHint(command string) string {
	return "in a clone of it: git agentxchain " + command +
		" and git agentxchain sync; then here: git agentxchain sync"
}

// OnServer refuses to do something in a repository that exists only on its server. what is a clause such as "its
// run is completed"; command does it in a clone.
func OnServer(repo, what, command string) *wire.Error {
	return &wire.Error{
		Code:    RemoteOnly,
		Field:   "repos." + repo,
		Message: onServer(repo, what),
		Hint:    OnServerHint(command),
	}
}
