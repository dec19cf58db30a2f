// Work that was delegated to other roles, as accept and status print it.

package shared

import (
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// PrintDelegated prints the open delegations, and the review they lead to.
func PrintDelegated(p *term.Printer, s *run.State) {
	for _, d := range s.DelegationQueue {
		p.Field("Delegated", "%s by %s to %s (%s): %s", term.OneLine(d.DelegationID), term.OneLine(d.ParentRole),
			term.OneLine(d.ToRole), term.OneLine(d.Status), term.OneLine(d.Charter))
	}
	if r := s.PendingDelegation; r != nil {
		for _, back := range r.Results {
			p.Field("Came back", "%s from %s (%s), for %s to review", term.OneLine(back.String("delegation_id")),
				term.OneLine(back.String("to_role")), term.OneLine(back.String("status")), term.OneLine(r.ParentRole))
		}
	}
}

// DelegatedRows returns the delegated member of --json: what PrintDelegated prints.
func DelegatedRows(s *run.State) []*ojson.Object {
	rows := ojson.List(s.DelegationQueue, func(d *run.Delegation) *ojson.Object {
		return ojson.NewObject("delegation_id", d.DelegationID, "by", d.ParentRole, "to_role", d.ToRole,
			"status", d.Status, "charter", d.Charter, "review", false)
	})
	if r := s.PendingDelegation; r != nil {
		for _, back := range r.Results {
			rows = append(rows, ojson.NewObject("delegation_id", back.String("delegation_id"), "by", r.ParentRole,
				"to_role", back.String("to_role"),
				"status", back.String("status"), "charter", back.String("charter"), "review", true))
		}
	}
	return rows
}
