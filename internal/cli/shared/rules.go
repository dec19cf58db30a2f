// Gate rules and votes: who may approve, who did.

package shared

import (
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// RuleRows returns the changes of rules for --json.
func RuleRows(changes []config.RuleChange) []*ojson.Object {
	return ojson.List(changes, func(c config.RuleChange) *ojson.Object {
		return ojson.NewObject("pointer", c.Pointer, "before", ojson.OrNull(c.Before),
			"after", ojson.OrNull(c.After), "weakens", c.Weakens)
	})
}

// ApproversText says whose approval counts.
func ApproversText(r *config.GateRule) string {
	text := r.People()
	if r.Threshold > 1 {
		text = strconv.Itoa(r.Threshold) + " of " + text
	}
	if r.Signed {
		text += ", signed"
	}
	if r.NotAuthor {
		text += ", not by who made the change"
	}
	return text
}

// RuleObject returns a gate rule for --json, null for none.
func RuleObject(r *config.GateRule) any {
	if r == nil {
		return nil
	}
	return ojson.NewObject(
		"by", r.Group,
		"principals", r.Principals,
		"threshold", r.Threshold,
		"signed", r.Signed,
		"not_author", r.NotAuthor,
	)
}

// VoteText describes one approval.
func VoteText(v *run.Vote) string {
	if v.Statement != "" {
		return v.Who() + ", signed with " + v.KeyID
	}
	return v.Who() + ", unsigned"
}

// PrintDropped prints those whose approval no longer counts, as what they approved has changed.
func PrintDropped(p *term.Printer, votes []*run.Vote) {
	for _, v := range votes {
		p.Field("No longer", "%s: what they approved has changed since", term.OneLine(v.Principal))
	}
}

// PrintNoLonger prints those whose approval no longer counts.
func PrintNoLonger(p *term.Printer, given gate.Given) {
	PrintDropped(p, given.Dropped)
	for _, l := range given.Lapsed {
		p.Field("No longer", "%s", term.OneLine(l.Why.Message))
	}
}
