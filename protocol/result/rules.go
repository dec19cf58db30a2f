// What of a configuration a result is judged by.

package result

import (
	"reflect"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// rulesOf is the configuration with nothing but what Validate reads of it. A rule that comes to read
// more takes it in here; TestRulesOfAConfiguration fails until it does.
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

// SameRules reports that Validate judges every result alike under both configurations.
func SameRules(a, b *config.Config) bool { return reflect.DeepEqual(rulesOf(a), rulesOf(b)) }
