// A repository of its own beside another one: what is brought there can be held against
// what is here, and is gone with it.

package git

import (
	"context"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// LendObjects has the object store in another directory, which need not be there yet, read
// the objects of r as well. Nothing is written to r.
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

// Quarantine makes one; the caller closes it.
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

// Transport is a git that speaks to the remotes of r and puts the objects that come into the
// quarantine. What it is told to fetch must name no ref of r: git's own GIT_QUARANTINE_PATH, which refuses to move any,
// refuses a fetch that moves none as well in newer versions (2.55).
func (q *Quarantine) Transport(r *Repository) *Git {
	g := r.Git.Transport()
	g.Env = append(dropVars(g.Env,
		[]string{"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"}),
		"GIT_OBJECT_DIRECTORY="+q.Repo.ObjectsDir)
	return g
}

// Close removes it with what came.
func (q *Quarantine) Close() {
	if q.Repo != nil {
		_ = q.Repo.Close()
	}
	_ = q.place.Remove()
}
