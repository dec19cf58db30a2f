// The SHA-256 object backend. Go-git v5 has its hash length compiled in as SHA-1's, so nothing
// of it is used here.
//
// Writing does not go through git. Feeding a pack to `git index-pack --stdin`
// or `git unpack-objects` costs a process (1.5 ms and more) on top of the same
// syncs, and unpack-objects syncs every object by itself; the pack this
// package writes is what index-pack would store, and git fsck --strict accepts
// it (see the tests).

package git

import "github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"

// CliObjects is the Objects of a SHA-256 repository.
type CliObjects struct{ *ObjectFiles }

func newCLIObjects(r *Repository) Objects { return CliObjects{newObjectFiles(r, pack.ApplyDelta)} }
