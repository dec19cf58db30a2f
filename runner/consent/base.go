// The commit from which approvers are read: no turn of the run has made it.

package consent

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Place says where signers and authority are read.
type Place struct {
	Repo    *git.Repository
	Project string  // id of the project that Repo is opened for, which may have been moved; "" for none
	Config  string  // path of the configuration in the project
	Branch  string  // the protected branch, "" for none
	On      string  // the branch that is checked out, "" for none
	Pinned  *string // the commit at which the run or initiative began, nil for none
	Head    string  // a commit whose tree is read as well, "" for none

	Names []string // result of Sources, nil before it was called
}

// PlaceIn returns where the signers of a project under cfg are read, with on checked out.
func PlaceIn(repo *git.Repository, cfg *config.Config, on string) Place {
	return Place{
		Repo:    repo,
		Project: cfg.Project.ID,
		Config:  wire.ConfigPath,
		Branch:  cfg.ProtectedBranch(),
		On:      on,
	}
}

// Base reads the signers, the configuration, and the tree of Head in one git process. It reads them from the
// protected branch, in its remote's version where that is known. Without a protected branch, or when the work goes to
// that very branch, the pinned commit counts (docs/spec/approvals.md#signers).
func (p Place) Base(ctx context.Context) (base *agreement.Base, tree string, err error) {
	sources, err := p.Sources(ctx)
	if err != nil {
		return nil, "", err
	}
	if p.Pinned != nil {
		sources = append(slices.Clip(sources), *p.Pinned)
	}
	if base, tree, err = p.read(ctx, sources, p.Repo.Prefix); err != nil || base.Commit == "" {
		return base, tree, err
	}
	dir := chain.ProjectDirAt(ctx, p.Repo, object.OID(base.Commit), p.Project, p.Repo.Prefix)
	if dir != p.Repo.Prefix {
		base, tree, err = p.read(ctx, sources, dir)
	}
	return base, tree, err
}

// read reads the first of the commits that is here, where the project is in dir.
func (p Place) read(ctx context.Context, sources []string, dir string) (base *agreement.Base, tree string, err error) {
	paths := append(wire.SignerFiles(), p.Config)
	var names []string
	for _, s := range sources {
		names = append(names, s+"^{commit}")
		for _, path := range paths {
			names = append(names, s+":"+dir+path)
		}
	}
	last := len(names)
	if p.Head != "" {
		names = append(names, p.Head+"^{tree}")
	}
	base = &agreement.Base{Signers: []evidence.FileBlob{}}
	found := -1
	err = p.Repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		source, n := i/(len(paths)+1), i%(len(paths)+1)
		switch {
		case i == last:
			tree = string(o.OID)
		case n == 0:
			if o.Found && found < 0 {
				found, base.Commit = source, string(o.OID)
				if p.Pinned == nil || sources[source] != *p.Pinned {
					base.Ref = sources[source]
				}
			}
		case source != found || !o.Found || o.Kind != "blob" || len(o.Data) > projectfile.MaxGate:
		case paths[n-1] != p.Config:
			base.Signers = append(base.Signers, evidence.FileBlob{Path: paths[n-1], Blob: evidence.NewBlob(o.Data)})
		default:
			base.Config = evidence.NewBlob(o.Data)
		}
	})
	return base, tree, err
}

// Sources returns the names under which git knows the protected branch, best first; none when no branch is protected.
// The work's own branch is left out: turns commit to it. Git fails on BRANCH@{upstream} where no upstream is set, so
// the upstream's name is looked up first.
func (p Place) Sources(ctx context.Context) ([]string, error) {
	if p.Branch == "" || p.Names != nil {
		return p.Names, nil
	}
	out, err := p.Repo.Git.Run(ctx, nil, "for-each-ref", "--format=%(upstream)", "refs/heads/"+p.Branch)
	if err != nil {
		return nil, err
	}
	var names []string
	if upstream, _, _ := strings.Cut(string(out), "\n"); strings.HasPrefix(upstream, "refs/remotes/") {
		names = append(names, upstream)
	}
	if origin := "refs/remotes/origin/" + p.Branch; len(names) == 0 || names[0] != origin {
		names = append(names, origin)
	}
	if p.On != p.Branch {
		names = append(names, "refs/heads/"+p.Branch)
	}
	return names, nil
}

// base returns the run's base, without the configuration when the run's own record has it.
func (c *Scene) base(ctx context.Context) (*agreement.Base, string, error) {
	at := PlaceIn(c.Store.Repository(), c.View.Config, c.Env.Git.Branch)
	at.Pinned, at.Head = c.View.State.AuthorityBase, c.Env.Git.Head
	base, tree, err := at.Base(ctx)
	if err == nil && base.Ref == "" {
		base.Config = nil
	}
	return base, tree, err
}
