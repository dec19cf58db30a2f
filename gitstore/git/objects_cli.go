// The SHA-256 object backend. Go-git v5 has SHA-1's hash length compiled in, so it is not used here.
//
// Writing does not go through git. Feeding a pack to `git index-pack --stdin` or `git unpack-objects` costs a
// process (1.5 ms and more) on top of the same syncs, and unpack-objects syncs every object separately; the pack
// this package writes is what index-pack would store, and git fsck --strict accepts it (see the tests).

package git

import "github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"

// CliObjects is the Objects of a SHA-256 repository.
type CliObjects struct{ *ObjectFiles }

func newCLIObjects(r *Repository) Objects { return CliObjects{newObjectFiles(r, pack.ApplyDelta)} }
