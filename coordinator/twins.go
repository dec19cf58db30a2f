// Two clones of one project: as two repositories of an initiative they would do its work twice.

package coordinator

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// origin is where a project comes from, as far as its repository tells.
type origin struct {
	repo, project string
	prefix        string   // path of the project in its repository
	top           string   // root of the repository's work tree
	from          string   // the address it was cloned from, "" for none
	roots         []string // the root commits of its history
}

// twins refuses two repositories that are the same project: one is a clone of the other, both were cloned from one
// address, or their histories have a common root and nothing says that one is a fork. Once there is a run, being in
// the same run also shows it.
func twins(ctx context.Context, cfg *initiative.Config, roots *Roots, children initiative.Children) *wire.Error {
	var seen []origin
	for id := range cfg.Repos.All() {
		dir, _ := roots.Path(id)
		s, err := gitstore.OpenForeign(ctx, dir, gitstore.Options{})
		if err != nil {
			continue // already reported
		}
		o := originOf(ctx, s.Repository())
		_ = s.Close()
		o.repo, o.project = id, children[id].Config.Project.ID
		for _, other := range seen {
			if why := o.same(other); why != "" {
				return &wire.Error{
					Code:    wire.CodeInvalidArgument,
					Field:   "repos." + id,
					Message: fmt.Sprintf("Repositories %s and %s are one project: %s.", other.repo, id, why),
					Hint: "name one of the two; if they are different projects, give each its own project.id in " +
						wire.ConfigPath + " and its own remote",
				}
			}
		}
		seen = append(seen, o)
	}
	return nil
}

func originOf(ctx context.Context, repo *git.Repository) origin {
	o := origin{prefix: repo.Prefix, top: git.RealOr(repo.TopLevel)}
	o.from = strings.TrimSuffix(strings.TrimRight(repo.Setting(ctx, "remote.origin.url"), "/"), ".git")
	if o.from != "" && !strings.Contains(o.from, ":") {
		if !filepath.IsAbs(o.from) {
			o.from = filepath.Join(repo.TopLevel, o.from)
		}
		o.from = git.RealOr(strings.TrimSuffix(o.from, "/"))
	}
	if out, err := repo.Git.Run(ctx, nil, "rev-list", "--max-parents=0", "HEAD"); err == nil {
		o.roots = strings.Fields(string(out))
	}
	return o
}

// same says why two are one project, "" if they are not, or if that is unknown.
func (o origin) same(other origin) string {
	switch {
	case o.prefix != other.prefix:
		return "" // two projects in one repository
	case o.from != "" && o.from == other.from:
		return "both were cloned from one address" // which may contain a password
	case o.from != "" && o.from == other.top:
		return fmt.Sprintf("%s was cloned from %s", o.repo, other.repo)
	case other.from != "" && other.from == o.top:
		return fmt.Sprintf("%s was cloned from %s", other.repo, o.repo)
	case o.project != other.project || o.from != "" && other.from != "":
		return "" // a fork, or made from the same template
	}
	for _, root := range o.roots {
		if slices.Contains(other.roots, root) {
			return "their histories begin with commit " + root[:12]
		}
	}
	return ""
}
