// What an isolated agent must not write.

package driver

import (
	"path"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/confine"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// confine says what the runtime's isolation is to protect, and refuses the dispatch when this
// machine cannot do it (isolation_unavailable): the turn is unharmed.
func (d *Driver) confine(req *runtimes.Request) error {
	if runtimes.Isolation(req.Runtime) == confine.None {
		return nil
	}
	free := []string{path.Dir(req.StagingPath), wire.ReviewsDir}
	for _, dir := range free {
		if err := d.r.MakeDir(dir); err != nil {
			return err
		}
		req.Writable = append(req.Writable, d.path(dir))
	}
	repo := d.r.Record().Repository()
	req.Protected = runtimes.Protected(req.Root, repo.TopLevel, repo.CommonDir, repo.GitDir, repo.ObjectsDir)
	_, _, err := req.Confined([]string{"sh"}, req.Root, req.Environ)
	return err
}

func (d *Driver) path(name string) string {
	return filepath.Join(d.r.Record().Dir(), filepath.FromSlash(name))
}
