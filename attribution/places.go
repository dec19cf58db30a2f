// Where the projects of the repository are, and were when their turns worked.

package attribution

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// places finds the directories of projects in a few commits.
type places struct {
	ctx  context.Context
	repo *git.Repository
	dirs []*chain.ProjectDirs
}

// newPlaces looks in the commits, or in HEAD.
func newPlaces(ctx context.Context, repo *git.Repository, at []string) *places {
	p := &places{ctx: ctx, repo: repo}
	if len(at) == 0 {
		at = []string{"HEAD"}
	}
	for _, rev := range at {
		p.dirs = append(p.dirs, chain.NewProjectDirs(repo, rev))
	}
	return p
}

// of returns where a project is: in the first commit that has it, else where the repository was opened.
func (p *places) of(id string) (dir string, known bool) {
	for _, d := range p.dirs {
		if dir, known = d.Of(p.ctx, id); known {
			return dir, true
		}
	}
	return p.repo.Prefix, false
}

// then returns where a project was at the first of the commits that is here. Only one that is not in the same place in
// all commits of p was moved; for any other this is dir.
func (p *places) then(id, dir string, commits []object.OID) string {
	moved := func(d *chain.ProjectDirs) bool { at, known := d.Of(p.ctx, id); return known && at != dir }
	if !slices.ContainsFunc(p.dirs, moved) {
		return dir
	}
	for _, c := range commits {
		if c != "" && p.repo.HasCommit(p.ctx, c) {
			return chain.ProjectDirAt(p.ctx, p.repo, c, id, dir)
		}
	}
	return dir
}
