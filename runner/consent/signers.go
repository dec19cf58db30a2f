// Files of signers that were committed after those in force, for a person to adopt or not.

package consent

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// SignersSince returns the files of signers in HEAD that differ from the commit they count as of, each as a change of
// the differing lines. There are none where a protected branch determines the signers, or no run is under way.
func SignersSince(ctx context.Context, store *gitstore.Store, v *gitstore.View) ([]config.RuleChange, error) {
	s := v.State
	if s == nil || s.AuthorityBase == nil || !run.RulesInForce(s.Status) {
		return nil, nil
	}
	repo := store.Repository()
	head, branch, err := repo.Checkout(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	at := PlaceIn(repo, v.Config, branch)
	at.Pinned = s.AuthorityBase
	count, _, err := at.Base(ctx)
	if err != nil || count.Ref != "" {
		return nil, err
	}
	at.Branch, at.Pinned = "", new(string(head))
	now, _, err := at.Base(ctx)
	if err != nil {
		return nil, err
	}
	var out []config.RuleChange
	for _, path := range wire.SignerFiles() {
		before, after := signerLines(count, path), signerLines(now, path)
		gone := without(before, after)
		c := config.RuleChange{
			Pointer: path,
			Before:  strings.Join(gone, "; "),
			After:   strings.Join(without(after, before), "; "),
			Weakens: path != attest.RevokedSignersPath || len(gone) > 0, // one more revocation lets no one else in
		}
		if !slices.Equal(before, after) {
			out = append(out, c)
		}
	}
	return out, nil
}

func signerLines(b *agreement.Base, path string) []string {
	i := slices.IndexFunc(b.Signers, func(f evidence.FileBlob) bool { return f.Path == path && f.Blob != nil })
	if i < 0 {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b.Signers[i].Blob.Data)), "\n")
}

func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return slices.Contains(others, l) })
}
