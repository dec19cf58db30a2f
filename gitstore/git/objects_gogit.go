// The SHA-1 object backend: objects that are packed as differences are put together by go-git.
//
// Go-git's storer is not opened on the repository, nor its pack reader. Its index decoder
// loads every pack index whole (28 bytes an object: 280 MB for ten million), its reader keeps
// no base from one object to the next, and its writer gives no file to sync.

package git

import "github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"

// GoGitObjects is the Objects of a SHA-1 repository.
type GoGitObjects struct{ *ObjectFiles }

func newGoGitObjects(r *Repository) Objects { return GoGitObjects{newObjectFiles(r, pack.PatchDelta)} }
