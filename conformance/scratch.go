// The workspace as files: a scratch directory for operations that run programs
// (docs/conformance.md#becoming-a-target).

package conformance

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// scratch is a project on disk with its own home and temporary directory, so that programs leave nothing outside.
type scratch struct{ base string }

func (s *scratch) project() string { return filepath.Join(s.base, "project") }

// environ returns an environment with the scratch's directories in place of the user's.
func (s *scratch) environ(env []string) []string {
	own := []string{"HOME", "TMPDIR", "TEMP", "TMP"}
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(own, name) || strings.HasPrefix(name, "XDG_")
	})
	out = append(out, "HOME="+filepath.Join(s.base, "home"))
	for _, name := range own[1:] {
		out = append(out, name+"="+filepath.Join(s.base, "tmp"))
	}
	return out
}

// scratch writes the workspace to a new directory. The caller defers cleanup, so that a panic leaves nothing behind
// either.
func (w *workspace) scratch() (s *scratch, cleanup func(), err error) {
	base, err := os.MkdirTemp("", "agentxchain-fixture-")
	if err != nil {
		return nil, nil, err
	}
	s = &scratch{base: base}
	defer func() {
		if err != nil {
			removeTemp(base)
		}
	}()
	for _, dir := range []string{"project", "home", "tmp"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o700); err != nil {
			return nil, nil, err
		}
	}
	root, err := os.OpenRoot(s.project())
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }()
	if err := writeTree(root, w.tree()); err != nil {
		return nil, nil, fmt.Errorf("the workspace cannot be written: %w", err)
	}
	return s, func() { removeTemp(base) }, nil
}

// tree returns every file of the workspace by project-relative path.
func (w *workspace) tree() map[string][]byte {
	files := map[string][]byte{
		wire.ConfigPath:             ojson.Pretty(w.cfg.Raw),
		string(wire.DocState):       ojson.Pretty(ojson.Marshal(w.state)),
		wire.LedgerHistory.Path():   nil,
		wire.LedgerDecisions.Path(): nil,
	}
	for ledger, lines := range w.ledgers {
		files[ledger.Path()] = jsonl(lines)
	}
	if w.isStaged {
		files[wire.FlatStagingPath] = ojson.Pretty(w.staged)
	}
	for _, f := range w.files {
		files[f.Path] = f.Blob.Data
	}
	for turn, bundle := range w.bundles {
		for name, data := range bundle {
			files[path.Join(wire.DispatchDir, turn, name)] = data
		}
	}
	return files
}

// writeTree writes files below root, including parents. It writes nothing outside root, whatever the paths are.
func writeTree(root *os.Root, files map[string][]byte) error {
	for name, data := range files {
		if dir := path.Dir(name); dir != "." {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := root.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
