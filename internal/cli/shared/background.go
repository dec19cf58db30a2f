// The sync that goes on after a command has ended.

package shared

import (
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// syncInBackground starts a sync that outlives this command. It prints nothing: status reports what
// is not on the remote.
func syncInBackground(dir, remote string) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	if p, err := process.Detach([]string{self, "sync", "--", remote}, dir, os.Environ()); err == nil {
		_ = p.Release()
	}
}
