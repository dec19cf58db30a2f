// Checking the bundle of an active turn against its seal, and the seal against the record.

package turnfiles

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Bundle is a dispatch bundle in the project.
type Bundle struct {
	Path     string                       // of the directory; "" when the turn's id names none
	Files    map[string]dispatch.FileInfo // path below the bundle directory
	Problems []dispatch.ManifestError     // none: it is as it was sealed (docs/bundles.md#the-seal)
	Manifest *dispatch.Manifest           // the seal in the directory; nil when it is absent or unreadable

	seal []byte
}

// Names returns the bundle's paths sorted by bytes.
func (b *Bundle) Names() []string {
	return slices.Sorted(maps.Keys(b.Files))
}

// Check compares the bundle of an active turn with its seal, and the seal with the recorded one
// unless that is nil. An unreadable file counts as a problem of the bundle.
func Check(project, run string, t *run.Turn, recorded []byte) *Bundle {
	b := &Bundle{Files: make(map[string]dispatch.FileInfo)}
	dir := dispatch.BundleDir(t.TurnID)
	if dir == "" {
		// A turn id made by another tool could name any directory.
		b.Problems = []dispatch.ManifestError{{
			Type:   dispatch.InvalidManifest,
			Detail: "the id of the turn cannot be part of a path",
		}}
		return b
	}
	b.Path = dir
	root, err := os.OpenRoot(project)
	if err == nil {
		defer func() { _ = root.Close() }()
		var report *dispatch.Report
		id := dispatch.Identity{RunID: run, TurnID: t.TurnID, Role: t.AssignedRole}
		if recorded == nil {
			report, err = dispatch.Verify(root, dir, id)
		} else {
			report, err = dispatch.VerifyRecorded(root, dir, id, recorded)
		}
		if err == nil {
			b.Files, b.Problems, b.seal = report.Files, report.Problems, report.Manifest
			b.Manifest, _ = dispatch.Inspect(b.seal)
		}
	}
	if err != nil {
		b.Problems = []dispatch.ManifestError{{
			Type:   dispatch.MissingManifest,
			Detail: "the bundle cannot be read: " + err.Error(),
		}}
	}
	return b
}

// Compare compares a bundle with its recorded seal, else with the seal in it. sealed is false when
// there is neither: nothing was dispatched, or by a tool that does not seal.
func Compare(ctx context.Context, s *gitstore.Store, v *gitstore.View, t *run.Turn) (b *Bundle, sealed bool,
	err error) {
	var recorded []byte
	if v.Op != "" {
		if recorded, sealed, err = s.RecordedSeal(ctx, v.Run, v.Op, t.TurnID); err != nil {
			return nil, false, err
		}
	}
	b = Check(s.Dir(), v.State.Run(), t, recorded)
	return b, sealed || b.seal != nil, nil
}

// Changes lists how an active turn's bundle differs from the dispatched one, nothing when it does
// not or when nothing was sealed for the turn.
func Changes(ctx context.Context, s *gitstore.Store, v *gitstore.View, t *run.Turn) ([]protocol.BundleChange, error) {
	if t.Status == wire.TurnAssigned {
		return nil, nil // not dispatched yet
	}
	b, sealed, err := Compare(ctx, s, v, t)
	if err != nil || !sealed {
		return nil, err
	}
	changes := dispatch.Changes(b.Problems)
	for _, c := range changes {
		if err := git.Shut(filepath.Join(s.Dir(), b.Path), filepath.Join(s.Dir(), b.Path, c.Path)); err != nil {
			return nil, err // no change can be proven
		}
	}
	return changes, nil
}

// Open returns the bundle of an active turn as an agent gets it: the very bytes whose seal, and the
// seal's record, were verified.
// Errors: bundle_invalid with the findings in details.problems, bundle_unreadable,
// bundle_too_large, and the store's.
func Open(ctx context.Context, s *gitstore.Store, v *gitstore.View, t *run.Turn) (*dispatch.Verified, error) {
	dir := dispatch.BundleDir(t.TurnID)
	if dir == "" {
		return nil, UnsafeID(t.TurnID)
	}
	root, err := os.OpenRoot(s.Dir())
	if err != nil {
		return nil, projectfile.Unreadable(".", err)
	}
	defer func() { _ = root.Close() }()
	b, err := dispatch.OpenVerified(root, dir, dispatch.Identity{
		RunID:  v.State.Run(),
		TurnID: t.TurnID,
		Role:   t.AssignedRole,
	})
	if err != nil || v.Op == "" {
		return b, err
	}
	seal, ok, err := s.RecordedSeal(ctx, v.Run, v.Op, t.TurnID)
	if err != nil {
		return nil, err
	}
	if ok && !bytes.Equal(seal, b.Seal()) {
		return nil, dispatch.Refusal(dir, dispatch.OtherSeal())
	}
	return b, nil
}
