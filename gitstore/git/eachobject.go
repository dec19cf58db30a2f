// Everything that refs reach, for callers that pass it on.

package git

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// EachObject reads every commit and blob that refs reach and passes it to look, with the path it has in its newest
// tree; commits have none. Errors: those of reading objects, git's own, and what look returns.
func (r *Repository) EachObject(ctx context.Context, refs []Ref, look func(oid object.OID, kind, path string,
	data []byte) error) error {
	var names strings.Builder
	for _, ref := range refs {
		names.WriteString(ref.Name + "\n")
	}
	out, err := r.Git.Run(ctx, []byte(names.String()), "rev-list", "--objects", "--stdin")
	if err != nil {
		return err
	}
	objects := r.Objects()
	for line := range strings.Lines(string(out)) {
		oid, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		kind, data, err := objects.Read(ctx, object.OID(oid))
		if err != nil {
			return err
		}
		if kind == object.KindTree {
			continue
		}
		if err := look(object.OID(oid), kind, path, data); err != nil {
			return err
		}
	}
	return nil
}
