// Git's settings in this repository.

package doctor

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// told reports what agents have changed in git's settings, and programs of the repository's own
// configuration that this program's git does not run.
func (d *doctor) told(ctx context.Context) {
	for _, n := range d.r.TamperNotices() {
		d.add("git", LevelError, "git agentxchain unblock, twice: the first puts it back", "%s", n)
	}
	if v := d.out.View; v != nil && v.State != nil && v.State.BlockedOn != nil &&
		*v.State.BlockedOn == runner.BlockedOnGit {
		d.add("git", LevelWarning, "look at what the agent did, then: git agentxchain unblock",
			"an agent changed git's configuration or hooks; they were restored, and copies are in .agentxchain/transactions/git-*")
	}
	switch keys, err := d.rec.Repository().UnusedPrograms(ctx); {
	case err != nil:
		d.failed("git", err, "git config --list --show-origin")
	case len(keys) > 0:
		d.add("git", LevelNote, "",
			"only this repository configures %s: this program does not run it (git config --global, or git lfs install, makes it yours)",
			strings.Join(keys, ", "))
	}
}
