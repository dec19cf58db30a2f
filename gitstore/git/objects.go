// Reading and writing git objects: the interface and the choice of backend.

package git

import (
	"context"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Objects reads and writes the objects of one repository. Implementations are
// safe for concurrent use.
type Objects interface {
	// Read returns an object whose hash was checked. Errors: object_missing,
	// object_corrupt (both name the id), object_too_large (over 256 MiB), or
	// git's own failure.
	Read(ctx context.Context, oid object.OID) (kind string, data []byte, err error)
	// Write stores objects so that they survive a power cut once it returned.
	// An object that is already stored is not written again. Empty OIDs are
	// filled in; a wrong OID is refused with object_invalid. All or nothing is
	// not promised: objects without a ref to them are harmless.
	Write(ctx context.Context, objects []object.Object) error
	// Has reports whether the object is stored. It answers false when it
	// cannot find out: writing an object once more does no harm.
	Has(ctx context.Context, oid object.OID) bool
	// Close ends helper processes. The Objects must not be used after.
	Close() error
}

// StoredChecker is an Objects that can tell how objects are stored.
type StoredChecker interface {
	// Check holds an object, as it is stored in this repository, against its kind and against data,
	// or where that is nil against its id. Unlike Read it asks no git, and refuses a damaged copy
	// even where another one is sound.
	Check(oid object.OID, kind string, data []byte) error
	// Damaged reports whether a damaged copy of an object was met so far; Read may have found another one.
	Damaged() bool
	// Borrows reports whether objects of other repositories are used (alternates). Whether they can be is for git
	// to say.
	Borrows() bool
}

// Objects returns the repository's object store, always the same one. Call
// Close on the Repository when done.
func (r *Repository) Objects() Objects {
	r.ObjectsOnce.Do(func() {
		if r.ObjectFormat == object.FormatSHA1 {
			r.ObjectStore = newGoGitObjects(r)
		} else {
			r.ObjectStore = newCLIObjects(r)
		}
	})
	return r.ObjectStore
}

// Close ends the helper processes the repository started.
func (r *Repository) Close() error {
	r.ObjectsOnce.Do(func() { r.ObjectStore = closedObjects{} })
	return r.ObjectStore.Close()
}

// closedObjects stands in when a repository is closed before first use.
type closedObjects struct{}

func (closedObjects) Read(context.Context, object.OID) (string, []byte, error) {
	return "", nil, os.ErrClosed
}
func (closedObjects) Write(context.Context, []object.Object) error { return os.ErrClosed }
func (closedObjects) Has(context.Context, object.OID) bool         { return false }
func (closedObjects) Close() error                                 { return nil }
