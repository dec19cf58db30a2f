// The objects of an untrusted clone: read from its files alone, inside it, within limits, each checked against its
// id.

package sibling

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
)

// maxSiblingObject bounds one object of a sibling, in bytes: a ledger segment or a document; every reader of
// documents has its own limit.
const maxSiblingObject = 64 << 20

// siblingObjects is the Objects of a sibling. It follows no alternates, fetches nothing and never asks git: what it
// does not find is missing.
type siblingObjects struct {
	format string
	dir    string // objects directory, absolute
	open   pack.Opener
	packs  *pack.Set
	deltas *pack.Reader
}

// newObjects reads the objects below dir through open, without git.
func newObjects(format, dir string, open pack.Opener) *siblingObjects {
	s := &siblingObjects{format: format, dir: dir, open: open,
		packs: &pack.Set{Dir: filepath.Join(dir, "pack"), HashLen: object.HexLen(format) / 2, Open: open}}
	s.deltas = &pack.Reader{Packs: s.packs, Limit: maxSiblingObject, Patch: pack.ApplyDelta, Loose: s.loose}
	return s
}

func (s *siblingObjects) Read(ctx context.Context, oid object.OID) (kind string, data []byte, err error) {
	if err := ctx.Err(); err != nil {
		return "", nil, context.Cause(ctx)
	}
	raw, ok := oid.Raw()
	if !ok || !oid.Valid(s.format) {
		return "", nil, object.Missing(oid)
	}
	kind, data, err = s.loose(oid)
	if err != nil {
		var packErr error
		if kind, data, packErr = s.packed(raw); packErr != nil {
			if errors.Is(packErr, fs.ErrNotExist) {
				packErr = err
			}
			switch {
			case fail.CodeOf(packErr) != "":
				return "", nil, packErr
			case errors.Is(packErr, fs.ErrNotExist):
				return "", nil, object.Missing(oid)
			}
			return "", nil, object.Corrupt(oid, packErr)
		}
	}
	return kind, data, object.Verify(s.format, oid, kind, data)
}

func (s *siblingObjects) loose(oid object.OID) (kind string, data []byte, err error) {
	f, err := s.open(filepath.Join(s.dir, string(oid[:2]), string(oid[2:])))
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	return object.DecodeLoose(f, maxSiblingObject)
}

// packed returns fs.ErrNotExist when no pack holds the object.
func (s *siblingObjects) packed(raw []byte) (kind string, data []byte, err error) {
	for range 2 { // a concurrent repack moves it to another pack
		p, off := s.packs.Find(raw)
		if p == nil {
			return "", nil, fs.ErrNotExist
		}
		if kind, data, err = s.deltas.Read(p, off); !errors.Is(err, fs.ErrNotExist) {
			return kind, data, err
		}
		s.packs.Forget(p)
	}
	return "", nil, err
}

func (s *siblingObjects) Has(ctx context.Context, oid object.OID) bool {
	_, _, err := s.Read(ctx, oid)
	return err == nil
}

// Write returns an error: a sibling is read-only.
func (s *siblingObjects) Write(context.Context, []object.Object) error {
	return fail.Errorf(fail.CodeGitFailed, os.ErrPermission, "another clone is only read")
}

// Close closes the packs at once, unlike a store's own: there may be hundreds of siblings, and there are no
// concurrent reads.
func (s *siblingObjects) Close() error {
	s.packs.CloseFiles()
	return nil
}
