// Which rules of the configuration, and of that of the protected branch, a decision has to hold.

package agreement

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
)

// GateRules are the rules that an approval of the gate has to hold: those the run is
// judged by and those of the protected branch, so that neither weakens the other.
func GateRules(cfg *config.Config, c *Consent, gate string) []*config.GateRule {
	var out []*config.GateRule
	if r := cfg.GateRule(gate); r != nil {
		out = append(out, r)
	}
	if base := c.baseConfig(); base != nil {
		if r := base.GateRule(gate); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// baseConfig is the configuration of the protected branch, nil without one.
func (c *Consent) baseConfig() *config.Config {
	if c == nil || c.Base == nil || c.Base.Config == nil {
		return nil
	}
	return config.DecodeGoverning(c.Base.Config.Data)
}

// ActRules are the rules of an act that overrules the record.
func ActRules(cfg *config.Config, c *Consent) []*config.GateRule {
	var out []*config.GateRule
	for _, cfg := range []*config.Config{cfg, c.baseConfig()} {
		if cfg != nil && cfg.ActRule() != nil {
			out = append(out, cfg.ActRule())
		}
	}
	return out
}

// ConfirmationRules are the rules a confirmation has to hold: those of acts, and those of
// every gate that was passed without us.
func ConfirmationRules(cfg *config.Config, c *Consent, claims []external.Claim) []*config.GateRule {
	out := ActRules(cfg, c)
	for _, claim := range claims {
		if claim.Kind == external.ClaimGate || claim.Kind == external.ClaimApproval {
			out = append(out, GateRules(cfg, c, claim.Gate)...)
		}
	}
	return out
}

// AdoptionRules are the rules that putting other rules in force has to hold: those of the
// rules before it. To change who approves takes all who approve, and so does what else comes to the same (all).
func AdoptionRules(was, now *config.Config, c *Consent, all bool) []*config.GateRule {
	if was == nil || was.Authority == nil {
		return ActRules(now, c)
	}
	out := ActRules(was, c)
	if !all && !AuthorityChanged(was, now) {
		return out
	}
	for id := range was.Authority.Gates.All() {
		out = append(out, was.GateRule(id))
	}
	return out
}

// Unguards reports a phase that would no longer end at the gate whose approvers the configuration names: who may approve
// that gate would no longer matter.
func Unguards(was, now *config.Config) bool {
	for phase, r := range was.Routing.All() {
		if to := now.Route(phase); was.GateRule(r.ExitGate) != nil && (to == nil || to.ExitGate != r.ExitGate) {
			return true
		}
	}
	return false
}

// AuthorityChanged reports a difference in who may approve.
func AuthorityChanged(was, now *config.Config) bool {
	return slices.ContainsFunc(config.RuleChanges(was, now), func(c config.RuleChange) bool {
		return c.Pointer == "/authority" || strings.HasPrefix(c.Pointer, "/authority/")
	})
}
