// The bundle that export writes beside an artifact.

package travel

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// bundleFile is a bundle that does not have its name yet.
type bundleFile struct {
	path, dir, temp string
}

// newBundleFile makes a place beside the bundle's for git to write to.
func newBundleFile(f *term.Factory, o *exportOptions, artifact string) (*bundleFile, error) {
	path, err := f.Path(o.Bundle)
	if err != nil {
		return nil, err
	}
	if path == artifact {
		return nil, term.UsageErrorf("--output and --bundle name the same file")
	}
	if err := shared.OutputPlace(path, o.Force); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-")
	if err != nil {
		return nil, term.Errorf("io_failed", "cannot write the bundle: %w", err)
	}
	return &bundleFile{path: path, dir: dir, temp: filepath.Join(dir, "bundle")}, nil
}

// publish gives the bundle its name.
func (b *bundleFile) publish(force bool) error {
	if b.temp == "" {
		return nil
	}
	err := os.Chmod(b.temp, 0o600)
	if err == nil {
		err = shared.Publish(b.temp, b.path, force)
	}
	if err == nil {
		err = durable.SyncDir(filepath.Dir(b.path))
	}
	var ours *term.Error
	if err != nil && !errors.As(err, &ours) {
		err = term.Errorf("io_failed", "cannot write the bundle: %w", err)
	}
	return err
}

func (b *bundleFile) discard() {
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
}
