// Proposals, as show and proposal print them.

package shared

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/proposal"
)

// ProposalObject returns a proposal for --json.
func ProposalObject(p *proposal.Proposal) *ojson.Object {
	files := ojson.List(p.Files, func(file proposal.File) *ojson.Object {
		return ojson.NewObject("path", file.Path, "action", file.Action, "applied", file.Applied,
			"in_turn", ojson.OrNull(file.InTurn), "merged", file.Merged)
	})
	return ojson.NewObject("turn_id", p.Turn, "role", p.Role, "summary", p.Summary, "status", p.Status,
		"reason", ojson.OrNull(p.Reason), "file_count", len(files), "files", files)
}
