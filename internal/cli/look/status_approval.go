// status: whose approval a gate needs, who has given it, and what is missing when another tool
// passed it.

package look

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

// printWaitingApproval prints whom the waiting gate waits for.
func printWaitingApproval(p *term.Printer, st *status.Standing) {
	cfg, s := st.View.Config, st.View.State
	w := s.Waiting()
	if w == nil {
		return
	}
	rule := cfg.GateRule(w.Gate)
	if rule != nil {
		p.Field("Asks for", "%s", term.OneLine(shared.ApproversText(rule)))
	}
	for i, vote := range st.Approvals {
		text := shared.VoteText(vote)
		if rule != nil && rule.Threshold > 1 {
			text = fmt.Sprintf("%d of %d: %s", i+1, rule.Threshold, text)
		}
		p.Field("Approved by", "%s", term.OneLine(text))
	}
	shared.PrintNoLonger(p, st.Given)
}

// lackingApproval is a gate that another tool passed without what authority requires.
type lackingApproval struct {
	gate string
	rule *config.GateRule
}

// lackingApprovals reads them from the unconfirmed claims: other implementations do not read
// authority (docs/spec/configuration.md#authority).
func lackingApprovals(cfg *config.Config, open []runner.Claim) []lackingApproval {
	var out []lackingApproval
	for _, c := range open {
		if c.Kind != external.ClaimApproval && c.Kind != external.ClaimGate {
			continue
		}
		seen := slices.ContainsFunc(out, func(l lackingApproval) bool { return l.gate == c.Gate })
		if rule := cfg.GateRule(c.Gate); rule != nil && !seen {
			out = append(out, lackingApproval{c.Gate, rule})
		}
	}
	return out
}

func (l lackingApproval) String() string {
	what := "the approval of"
	switch n := l.rule.Threshold; {
	case n > 1 && l.rule.Signed:
		what = strconv.Itoa(n) + " signed statements by"
	case n > 1:
		what = strconv.Itoa(n) + " approvals by"
	case l.rule.Signed:
		what = "a signed statement by"
	}
	return "gate " + l.gate + " was passed by another tool; authority asks for " + what + " " + l.rule.People()
}
