// Reading and writing git objects: the interface.

package git

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
)

// Objects reads and writes the objects of one repository. Implementations are
// safe for concurrent use.
type Objects interface {
	// Read returns an object whose hash was checked. Errors: object_missing,
	// object_corrupt (both name the id), object_too_large (over 256 MiB), or
	// git's own failure.
	Read(ctx context.Context, oid object.OID) (kind string, data []byte, err error)
	// Write stores objects so that they survive a power cut once it has returned. An object that is already stored
	// is not written again. Empty OIDs are filled in; a wrong OID is refused with object_invalid. It does not
	// promise all or nothing: unreferenced objects are harmless.
	Write(ctx context.Context, objects []object.Object) error
	// Has reports whether the object is stored. It returns false when it cannot find out: writing an object again
	// does no harm.
	Has(ctx context.Context, oid object.OID) bool
	// Close ends helper processes. The Objects must not be used afterwards.
	Close() error
}

// StoredChecker is an Objects that knows how objects are stored.
type StoredChecker interface {
	// Check compares an object, as stored in this repository, with kind and data, or if data is nil with its id.
	// Unlike Read it never asks git, and refuses a damaged copy even if there is an intact one.
	Check(oid object.OID, kind string, data []byte) error
	// Damaged reports whether a damaged copy of an object was encountered so far; Read may have found another copy.
	Damaged() bool
	// Borrows reports whether the repository uses objects of other repositories (alternates). Only git can say
	// whether they are usable.
	Borrows() bool
}

var _ StoredChecker = (*ObjectFiles)(nil)

// Objects returns the repository's object store, the same one each time. Call Close on the Repository when done.
func (r *Repository) Objects() Objects {
	r.ObjectsOnce.Do(func() {
		patch := pack.ApplyDelta // go-git v5 has the length of SHA-1 compiled in
		if r.ObjectFormat == object.FormatSHA1 {
			patch = pack.PatchDelta
		}
		r.ObjectStore = newObjectFiles(r, patch)
	})
	return r.ObjectStore
}

// Close ends the helper processes the repository started.
func (r *Repository) Close() error { return r.Objects().Close() }
