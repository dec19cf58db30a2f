// What a new bundle takes over from an earlier bundle, from the record and from hooks.

package turnfiles

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Survive adds to files what an earlier bundle of the turn keeps.
func Survive(project string, turn *run.Turn, files map[string][]byte) error {
	dir := dispatch.BundleDir(turn.TurnID)
	if dir == "" {
		return nil // Build has already refused it
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return projectfile.Unreadable(".", err)
	}
	defer func() { _ = root.Close() }()
	before, err := Contents(root, dir)
	if err != nil {
		if coded, ok := errors.AsType[*wire.Error](err); ok {
			coded.Hint = "take out of " + dir + " what does not belong to the bundle, then run the command again"
		}
		return err
	}
	maps.Copy(files, before.Supplements())
	return nil
}

// Chosen returns the files to seal: the core as it was built, what an earlier dispatch of the turn
// had sealed, and what the hooks have just added or changed. Other files that were there before
// belong to no turn and are left out.
func Chosen(core map[string][]byte, before, after dispatch.Contents) map[string][]byte {
	files := maps.Clone(core)
	kept := before.Supplements()
	for name, data := range after.Files {
		if dispatch.Core(name) || slices.Contains(dispatch.AuditFiles(), name) {
			continue
		}
		_, sealed := kept[name]
		if was, there := before.Files[name]; sealed || !there || !bytes.Equal(was, data) {
			files[name] = data
		}
	}
	return files
}

// Contents is Collect of a directory that need not be there yet.
func Contents(root *os.Root, dir string) (dispatch.Contents, error) {
	if _, err := root.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return dispatch.Contents{}, nil
	}
	return dispatch.Collect(root, dir, dispatch.Limits{})
}

// recordedSupplements returns the files beside its core that the record has of a turn's bundle.
// They come back when they were removed from the directory.
func recordedSupplements(ctx context.Context, s *gitstore.Store, v *gitstore.View, turn *run.Turn) (map[string][]byte,
	error) {
	if v.Op == "" {
		return nil, nil
	}
	rec, err := s.OpenRun(ctx, v.Run, v.Op)
	if err != nil {
		return nil, err
	}
	all, err := rec.Files()
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte)
	prefix := wire.BundleDir(turn.TurnID) + "/"
	for path, data := range all.Files {
		if name, ok := strings.CutPrefix(path, prefix); ok && !dispatch.Core(name) && name != dispatch.ManifestFile &&
			!slices.Contains(dispatch.AuditFiles(), name) {
			out[name] = bytes.Clone(data)
		}
	}
	return out, nil
}

// Resupply is Survive for a bundle that may have been damaged: the sealed files in the directory,
// then the recorded ones.
func Resupply(ctx context.Context, s *gitstore.Store, v *gitstore.View, turn *run.Turn,
	files map[string][]byte) error {
	recorded, err := recordedSupplements(ctx, s, v, turn)
	if err != nil {
		return err
	}
	core := maps.Clone(files)
	if err := Survive(s.Dir(), turn, files); err != nil {
		return err
	}
	maps.Copy(files, recorded) // even if they were changed meanwhile
	maps.Copy(files, core)
	return nil
}
