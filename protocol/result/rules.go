// The parts of a configuration by which a result is judged.

package result

import (
	"reflect"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// rulesOf returns the configuration reduced to what Validate reads of it. A rule that begins to read more must add
// it here; TestRulesOfAConfiguration fails until then.
func rulesOf(cfg *config.Config) *config.Config {
	out := &config.Config{}
	out.Rules.ResultRepair, out.Rules.ChallengeRequired = cfg.Rules.ResultRepair, cfg.Rules.ChallengeRequired
	for id, r := range cfg.Roles.All() {
		out.Roles.Set(id, &config.Role{WriteAuthority: r.WriteAuthority})
	}
	for id, r := range cfg.Runtimes.All() {
		out.Runtimes.Set(id, &config.Runtime{Type: r.Type})
	}
	for phase, r := range cfg.Routing.All() {
		out.Routing.Set(phase, &config.Route{
			EntryRole:        r.EntryRole,
			AllowedNextRoles: r.AllowedNextRoles,
			ExitGate:         r.ExitGate,
		})
	}
	for id := range cfg.Gates.All() {
		out.Gates.Set(id, nil)
	}
	return out
}

// SameRules reports whether Validate judges every result the same under both configurations.
func SameRules(a, b *config.Config) bool { return reflect.DeepEqual(rulesOf(a), rulesOf(b)) }
