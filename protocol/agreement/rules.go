// The rules that a decision must meet: those of the configuration, and those of the protected branch's
// configuration.

package agreement

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
)

// GateRules returns the rules that an approval of the gate must meet: those by which the run is judged and those of
// the protected branch, so that neither weakens the other.
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

// baseConfig returns the configuration of the protected branch, or nil.
func (c *Consent) baseConfig() *config.Config {
	if c == nil || c.Base == nil || c.Base.Config == nil {
		return nil
	}
	return config.DecodeGoverning(c.Base.Config.Data)
}

// ActRules returns the rules of an act that overrules the record.
func ActRules(cfg *config.Config, c *Consent) []*config.GateRule {
	var out []*config.GateRule
	for _, cfg := range []*config.Config{cfg, c.baseConfig()} {
		if cfg != nil && cfg.ActRule() != nil {
			out = append(out, cfg.ActRule())
		}
	}
	return out
}

// ConfirmationRules returns the rules that a confirmation must meet: those of acts, and those of every gate that
// was passed without this program.
func ConfirmationRules(cfg *config.Config, c *Consent, claims []external.Claim) []*config.GateRule {
	out := ActRules(cfg, c)
	for _, claim := range claims {
		if claim.Kind == external.ClaimGate || claim.Kind == external.ClaimApproval {
			out = append(out, GateRules(cfg, c, claim.Gate)...)
		}
	}
	return out
}

// AdoptionRules returns the rules that the adoption of a configuration must meet: those in force before it. A
// change of who approves needs everyone who approves, and so does any change with the same effect (all).
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

// Unguards reports whether a phase would no longer end at its gate, whose approvers the configuration names: who
// may approve that gate would no longer matter.
func Unguards(was, now *config.Config) bool {
	for phase, r := range was.Routing.All() {
		if to := now.Route(phase); was.GateRule(r.ExitGate) != nil && (to == nil || to.ExitGate != r.ExitGate) {
			return true
		}
	}
	return false
}

// AuthorityChanged reports whether two configurations differ in who may approve.
func AuthorityChanged(was, now *config.Config) bool {
	return slices.ContainsFunc(config.RuleChanges(was, now), func(c config.RuleChange) bool {
		return c.Pointer == "/authority" || strings.HasPrefix(c.Pointer, "/authority/")
	})
}
