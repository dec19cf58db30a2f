// Policies limit which turns are accepted (docs/spec/gates.md#policies).

package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// PolicyInput is the turn about to be accepted and the run's counts without it. The counts cover this run only and
// exclude reissued turns (docs/compatibility.md#where-we-differ-on-purpose).
type PolicyInput struct {
	Phase      string
	Role       string
	Status     string  // status of the turn result
	PhaseTurns int     // accepted turns in the phase
	TotalTurns int     // accepted turns of the run
	Streak     int     // most recent accepted turns of the same role
	CostUSD    float64 // US dollars
	CostKnown  bool
	Replay     *result.ReplayOutcome // nil: the verification was not run again
}

// Violation is a policy that the turn breaks. Action is block, warn or escalate as configured; any other value must
// count as block.
type Violation struct {
	PolicyID string
	Rule     string
	Action   string
	Message  string
}

// EvaluatePolicies returns every violation, in the order of the policies.
func EvaluatePolicies(cfg *config.Config, in PolicyInput) []Violation {
	var out []Violation
	for i := range cfg.Policies {
		p := &cfg.Policies[i]
		if !PolicyApplies(p, in.Phase, in.Role) {
			continue
		}
		text := PolicyViolation(p, in)
		if text == "" {
			continue
		}
		message := fmt.Sprintf("Policy %s: %s", wire.Quoted(p.ID), text)
		if p.Message != "" {
			message = p.Message
		}
		out = append(out, Violation{PolicyID: p.ID, Rule: p.Rule, Action: p.Action, Message: message})
	}
	return out
}

// PoliciesNeedReplay reports whether a policy that applies to the turn needs its verification to be run again. The
// scope is read first: a policy about other phases or roles is not a reason to run an agent's commands
// (docs/compatibility.md#where-we-differ-on-purpose).
func PoliciesNeedReplay(cfg *config.Config, phase, role string) bool {
	return slices.ContainsFunc(cfg.Policies, func(p config.Policy) bool {
		return p.Rule == config.RuleRequireReproducibleVerify && PolicyApplies(&p, phase, role)
	})
}

// PolicyApplies checks the scope of a policy: an empty list means no restriction.
func PolicyApplies(p *config.Policy, phase, role string) bool {
	return (len(p.Phases) == 0 || slices.Contains(p.Phases, phase)) &&
		(len(p.Roles) == 0 || slices.Contains(p.Roles, role))
}

// PolicyViolation says how the turn breaks the policy; "" when it does not.
func PolicyViolation(p *config.Policy, in PolicyInput) string {
	switch p.Rule {
	case config.RuleMaxTurnsPerPhase:
		if float64(in.PhaseTurns) >= p.Limit {
			return fmt.Sprintf("phase %s already has %d of at most %v accepted turns", wire.Quoted(in.Phase),
				in.PhaseTurns, p.Limit)
		}
	case config.RuleMaxTotalTurns:
		if float64(in.TotalTurns) >= p.Limit {
			return fmt.Sprintf("the run already has %d of at most %v accepted turns", in.TotalTurns, p.Limit)
		}
	case config.RuleMaxConsecutiveSameRole:
		if n := in.Streak + 1; float64(n) > p.Limit {
			return fmt.Sprintf("this would be turn %d in a row of role %s; at most %v are allowed", n,
				wire.Quoted(in.Role), p.Limit)
		}
	case config.RuleMaxCostPerTurn:
		if in.CostKnown && in.CostUSD > p.LimitUSD {
			return fmt.Sprintf("the turn cost $%.2f, more than the limit of $%.2f", in.CostUSD, p.LimitUSD)
		}
	case config.RuleRequireStatus:
		if !slices.Contains(p.Allowed, in.Status) {
			return fmt.Sprintf("turn status %s is not one of the allowed ones (%s)", wire.Quoted(in.Status),
				strings.Join(p.Allowed, ", "))
		}
	case config.RuleRequireReproducibleVerify:
		return replayProblem(in.Replay)
	default:
		// Configuration errors are reported where the file is read; a rule that passed that check must not look as
		// if it were kept.
		return fmt.Sprintf("rule %s is unknown, so it cannot be shown to be kept", wire.Quoted(p.Rule))
	}
	return ""
}

// replayProblem says why the replay does not prove the verification; "" when it does.
func replayProblem(r *result.ReplayOutcome) string {
	switch {
	case r == nil:
		return "the verification was not run again before acceptance"
	case r.Overall == result.ReplayMatch:
		return ""
	case r.Overall == result.ReplayMismatch:
		return fmt.Sprintf("running the verification again matched %d of %d declared exit codes", r.MatchedCommands,
			r.ReplayedCommands)
	case r.Reason != "":
		return r.Reason
	case r.Overall == result.ReplayNotReproducible:
		return "verification.machine_evidence holds nothing that can be run again"
	}
	return "the verification was not run again before acceptance"
}
