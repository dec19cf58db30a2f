// Where the people who may approve are read: a commit that no turn of the run has made.

package consent

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// authorityBase reads the signers, with a protected branch its configuration, and the tree
// of HEAD in one git process. The branch is that of git_hooks.protected_branches, as its remote has it
// where that is known. Without one, or when the run's own work goes to that very branch,
// the commit counts at which the run began (docs/spec/approvals.md#signers).
func (c *Scene) authorityBase(ctx context.Context) (base *agreement.Base, tree string, err error) {
	repo := c.Store.Repository()
	sources, err := c.protectedSources(ctx)
	if err != nil {
		return nil, "", err
	}
	if p := c.View.State.AuthorityBase; p != nil {
		sources = append(sources, *p)
	}
	paths := append(wire.SignerFiles(), wire.ConfigPath)
	var names []string
	for _, s := range sources {
		names = append(names, s+"^{commit}")
		for _, p := range paths {
			names = append(names, s+":"+repo.Prefix+p)
		}
	}
	last := len(names)
	if head := c.Env.Git.Head; head != "" {
		names = append(names, head+"^{tree}")
	}
	base = &agreement.Base{Signers: []evidence.FileBlob{}}
	found := -1
	err = repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		source, n := i/(len(paths)+1), i%(len(paths)+1)
		switch {
		case i == last:
			tree = string(o.OID)
		case n == 0:
			if o.Found && found < 0 {
				found, base.Commit = source, string(o.OID)
				if pinned := c.View.State.AuthorityBase; pinned == nil || sources[source] != *pinned {
					base.Ref = sources[source]
				}
			}
		case source != found || !o.Found || o.Kind != "blob" || len(o.Data) > projectfile.MaxGate:
		case paths[n-1] != wire.ConfigPath:
			base.Signers = append(base.Signers, evidence.FileBlob{Path: paths[n-1], Blob: evidence.NewBlob(o.Data)})
		case base.Ref != "":
			base.Config = evidence.NewBlob(o.Data)
		}
	})
	return base, tree, err
}

// protectedSources are the refs of the branch that is protected, the most trustworthy
// first; nil when none is. Git dies of BRANCH@{upstream} where no upstream is set, so
// that it is asked for its name first.
func (c *Scene) protectedSources(ctx context.Context) ([]string, error) {
	branch := c.View.Config.ProtectedBranch()
	if branch == "" {
		return nil, nil
	}
	out, err := c.Store.Repository().Git.Run(ctx, nil, "for-each-ref", "--format=%(upstream)", "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	var names []string
	if upstream, _, _ := strings.Cut(string(out), "\n"); strings.HasPrefix(upstream, "refs/remotes/") {
		names = append(names, upstream)
	}
	if origin := "refs/remotes/origin/" + branch; len(names) == 0 || names[0] != origin {
		names = append(names, origin)
	}
	if c.Env.Git.Branch != branch {
		names = append(names, "refs/heads/"+branch)
	}
	return names, nil
}
