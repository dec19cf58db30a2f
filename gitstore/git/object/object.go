// Git objects: kinds, limits, and validation.

package object

import (
	"errors"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Kinds of objects.
const (
	KindBlob   = "blob"
	KindTree   = "tree"
	KindCommit = "commit"
	KindTag    = "tag"
)

// MaxSize bounds one object in memory, in bytes. Ledger segments and governed files are far smaller; a larger one
// is an attack or a mistake.
const MaxSize = 256 << 20

// Object is one git object. OID may be left empty before Write.
type Object struct {
	OID  OID
	Kind string
	Data []byte
}

// New returns an object with its id computed for the object format.
func New(format, kind string, data []byte) Object {
	return Object{OID: Hash(format, kind, data), Kind: kind, Data: data}
}

// Missing returns the error for a missing object (object_missing).
func Missing(oid OID) error {
	return fail.Errorf(fail.CodeObjectMissing, nil, "object %s is not in the repository", oid).
		WithHint("%s", WayBack(fail.CodeObjectMissing, "REMOTE"))
}

// WayBack says how to restore from a remote an object that is missing or damaged here, "" for another code. A plain
// fetch does not bring it: the refs that lead to it are here.
func WayBack(code, remote string) string {
	switch code {
	case fail.CodeObjectMissing:
		return "git fsck lists what is missing; git fetch --refetch " + remote +
			" (git 2.36) brings what that remote has, in a shallow clone git fetch --unshallow"
	case fail.CodeObjectCorrupt:
		return "git fsck names the file that is damaged; move it away, then git fetch --refetch " + remote +
			" (git 2.36) brings what that remote has"
	}
	return ""
}

// Corrupt returns the error for a damaged object (object_corrupt).
func Corrupt(oid OID, cause error) error {
	return fail.Errorf(fail.CodeObjectCorrupt, cause, "object %s is damaged", oid).
		WithHint("%s", WayBack(fail.CodeObjectCorrupt, "REMOTE"))
}

// KindError says that an object is intact but of another kind than the reference to it requires.
type KindError struct{ Got, Want string }

func (e *KindError) Error() string {
	return fmt.Sprintf("it is a %s where a %s is needed", e.Got, e.Want)
}

func TooLarge(oid OID, size int64) error {
	return fail.Errorf(fail.CodeObjectTooLarge, nil, "object %s is %d bytes long, the limit is %d", oid, size,
		int64(MaxSize))
}

// OverLimit refuses an object whose id is not known yet.
func OverLimit(size uint64, limit int64) error {
	return fail.Errorf(fail.CodeObjectTooLarge, nil, "an object is %d bytes long, the limit is %d", size, limit)
}

// Verify checks that content hashes to the requested id.
func Verify(format string, oid OID, kind string, data []byte) error {
	h := hasherOf(format)
	defer h.done()
	if got := h.id(kind, data); string(got) != string(oid) {
		return Corrupt(oid, errors.New("its content hashes to "+string(got)))
	}
	return nil
}

func IsKind(kind string) bool {
	return kind == KindBlob || kind == KindTree || kind == KindCommit || kind == KindTag
}

// Prepare fills in ids, refuses wrong ones, and drops duplicates in a batch.
func Prepare(format string, objects []Object) ([]Object, error) {
	out := make([]Object, 0, len(objects))
	seen := make(map[OID]bool, len(objects))
	for i := range objects {
		o := &objects[i]
		if !IsKind(o.Kind) {
			return nil, fail.Errorf(fail.CodeObjectInvalid, nil, "%q is not a kind of object", o.Kind)
		}
		if len(o.Data) > MaxSize {
			return nil, TooLarge(o.OID, int64(len(o.Data)))
		}
		oid := Hash(format, o.Kind, o.Data)
		if o.OID == "" {
			o.OID = oid
		} else if o.OID != oid {
			return nil, fail.Errorf(fail.CodeObjectInvalid, nil, "object %s has content that hashes to %s", o.OID, oid)
		}
		if !seen[oid] {
			if err := wellFormed(format, *o); err != nil {
				return nil, fail.Errorf(fail.CodeObjectInvalid, err, "the %s to be written is malformed", o.Kind)
			}
			seen[oid] = true
			out = append(out, *o)
		}
	}
	return out, nil
}

// wellFormed refuses trees and commits that could not be read back.
func wellFormed(format string, o Object) (err error) {
	switch o.Kind {
	case KindTree:
		_, err = ParseTree(format, o.Data)
	case KindCommit:
		_, err = ParseCommit(format, o.Data)
	}
	return err
}
