// The SHA-1 object backend: go-git applies the deltas of packed objects.
//
// Go-git's storer is not opened on the repository, and neither is its pack reader. Its index decoder loads every
// pack index whole (28 bytes an object: 280 MB for ten million), its reader caches no base from one object to the
// next, and its writer exposes no file to sync.

package git

import "github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"

// GoGitObjects is the Objects of a SHA-1 repository.
type GoGitObjects struct{ *ObjectFiles }

func newGoGitObjects(r *Repository) Objects { return GoGitObjects{newObjectFiles(r, pack.PatchDelta)} }
