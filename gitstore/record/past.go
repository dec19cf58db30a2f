// The past of files, read with memory.

package record

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Past reads commits and paths of the project's history inside this process. What
// is not there is no error.
type Past struct{ t *Reader }

// Commit returns a commit, nil when it is not in the repository or is none.
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

// Has reports whether the commit is there and holds something at the path.
func (p *Past) Has(id object.OID, name string) (bool, error) {
	c, err := p.Commit(id)
	if c == nil || err != nil {
		return false, err
	}
	_, ok, err := p.t.Lookup(c.Tree, name)
	return ok, err
}

// NewPast returns a reader that remembers what it read.
func NewPast(ctx context.Context, r *git.Repository) *Past { return &Past{NewReader(ctx, r)} }
