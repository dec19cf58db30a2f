// The configurations of operations that are read in sequence.

package chain

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// Configs caches the newest configuration: it rarely differs from the last operation's.
type Configs struct {
	last *config.Config
	oid  object.OID
}

// Of decodes the configuration that an operation recorded, and returns it with its blob. root holds the entries of
// tree.
func (c *Configs) Of(r *record.Reader, root []object.TreeEntry, tree object.OID) (*config.Config, object.OID, error) {
	i := slices.IndexFunc(root, func(e object.TreeEntry) bool { return e.Name == record.FileConfig })
	if i < 0 {
		return nil, "", record.Malformed(tree, "there is no %s", record.FileConfig)
	}
	if c.last == nil || c.oid != root[i].OID {
		data, err := r.Blob(root[i].OID)
		if err != nil {
			return nil, "", err
		}
		cfg, _, err := config.Decode(data)
		if err != nil {
			return nil, "", record.Malformed(tree, "%s: %v", record.FileConfig, err)
		}
		c.last, c.oid = cfg, root[i].OID
	}
	return c.last, c.oid, nil
}
