// Whether a commit is here, and its tree.

package git

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// HasCommit reports whether the repository holds the commit.
func (r *Repository) HasCommit(ctx context.Context, oid object.OID) bool {
	if !oid.Valid(r.ObjectFormat) {
		return false
	}
	_, err := r.Git.Run(ctx, nil, "cat-file", "-e", string(oid)+"^{commit}")
	return err == nil
}

// NoCommit reports whether an object is here but is neither a commit nor a tag of one.
func (r *Repository) NoCommit(ctx context.Context, oid object.OID) bool {
	if !oid.Valid(r.ObjectFormat) || r.HasCommit(ctx, oid) {
		return false
	}
	_, err := r.Git.Run(ctx, nil, "cat-file", "-e", string(oid))
	return err == nil
}

// TreeOf returns the tree of a commit, "" when the commit is not here.
func (r *Repository) TreeOf(ctx context.Context, commit object.OID) (object.OID, error) {
	if !commit.Valid(r.ObjectFormat) {
		return "", nil
	}
	out, err := r.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", string(commit)+"^{tree}")
	if ExitCode(err) == 1 {
		return "", nil
	}
	return object.OID(strings.TrimSpace(string(out))), err
}
