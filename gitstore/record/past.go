// The history of files, read with a cache.

package record

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Past reads commits and paths of the project's history inside this process. Missing objects are not an error.
type Past struct{ t *Reader }

// Commit returns a commit, nil when it is missing from the repository or not a commit.
func (p *Past) Commit(id object.OID) (*object.Commit, error) {
	if !id.Valid(p.t.Format) {
		return nil, nil
	}
	c, err := p.t.Commit(id)
	switch fail.CodeOf(err) {
	case fail.CodeObjectMissing, fail.CodeObjectCorrupt:
		return nil, nil
	}
	return c, err
}

// Has reports whether the commit exists and holds something at the path.
func (p *Past) Has(id object.OID, name string) (bool, error) {
	c, err := p.Commit(id)
	if c == nil || err != nil {
		return false, err
	}
	_, ok, err := p.t.Lookup(c.Tree, name)
	return ok, err
}

// NewPast returns a caching reader.
func NewPast(ctx context.Context, r *git.Repository) *Past { return &Past{NewReader(ctx, r)} }
