// A temporary repository beside another one: objects fetched into it can be compared with those here, and are
// removed with it.

package git

import (
	"context"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// LendObjects lets the object store in another directory, which need not exist yet, read the objects of r as well.
// It writes nothing to r.
func (r *Repository) LendObjects(objects string) error {
	info := filepath.Join(objects, "info")
	err := os.MkdirAll(info, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(info, "alternates"), []byte(r.ObjectsDir+"\n"), 0o666)
	}
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "cannot write to %s", info)
	}
	return nil
}

// Quarantine is an empty bare repository that reads the objects of the one it was made for.
type Quarantine struct {
	Repo  *Repository
	place *Aside
}

// Quarantine creates a quarantine; the caller closes it.
func (r *Repository) Quarantine(ctx context.Context) (_ *Quarantine, err error) {
	q := &Quarantine{}
	if q.place, err = r.Aside(); err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "there is no room for what is fetched")
	}
	g := NewForeignGit(q.place.Path)
	if _, err = g.Run(ctx, nil, "init", "--quiet", "--bare", "--template=", "--object-format="+r.ObjectFormat,
		"."); err == nil {
		q.Repo, err = Ask(ctx, g)
	}
	if err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// Transport returns a git that talks to the remotes of r and puts fetched objects into the quarantine. Its fetches
// must not update any ref of r: git's own GIT_QUARANTINE_PATH, which forbids that, in newer versions (2.55) also
// forbids a fetch that moves none.
func (q *Quarantine) Transport(r *Repository) *Git {
	g := r.Git.Transport()
	g.Env = append(dropVars(g.Env,
		[]string{"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"}),
		"GIT_OBJECT_DIRECTORY="+q.Repo.ObjectsDir)
	return g
}

// Close removes the quarantine and its objects.
func (q *Quarantine) Close() {
	if q.Repo != nil {
		_ = q.Repo.Close()
	}
	_ = q.place.Remove()
}
