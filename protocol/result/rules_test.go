// The parts of a configuration by which results are judged.

package result

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// Results are judged by nothing in a configuration except what rulesOf keeps.
func TestRulesOfAConfiguration(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := drawInput(rt, t)
		if in.Config == nil {
			return
		}
		cfg := *in.Config
		if rapid.Bool().Draw(rt, "strict") {
			cfg.Rules.ResultRepair = config.RepairStrict
		}
		in.Config = &cfg
		whole := Validate(in)
		in.Config = rulesOf(&cfg)
		if kept := Validate(in); !reflect.DeepEqual(whole, kept) {
			rt.Fatalf("rulesOf leaves out what decided: %+v instead of %+v", kept, whole)
		}
	})
}

func TestSameRules(t *testing.T) {
	cfg := resultConfig()
	if !SameRules(cfg, resultConfig()) {
		t.Error("equal configurations have different rules")
	}
	other := resultConfig()
	other.Role("qa").Mandate, other.Rules.MaxTurnRetries, other.Policies = "another", 9, []config.Policy{{ID: "p"}}
	if !SameRules(cfg, other) {
		t.Error("what no result is judged by makes a difference")
	}
	for name, change := range map[string]func(*config.Config){
		"write authority": func(c *config.Config) { c.Role("qa").WriteAuthority = "authoritative" },
		"a role":          func(c *config.Config) { c.Roles.Set("another", &config.Role{}) },
		"runtime":         func(c *config.Config) { c.Runtimes.Set("another", &config.Runtime{Type: "mcp"}) },
		"next roles":      func(c *config.Config) { c.Route("qa").AllowedNextRoles = nil },
		"entry role":      func(c *config.Config) { c.Route("qa").EntryRole = "dev" },
		"exit gate":       func(c *config.Config) { c.Route("qa").ExitGate = "another" },
		"order of phases": func(c *config.Config) {
			first := c.Phases()[0]
			r := c.Route(first)
			c.Routing.Delete(first)
			c.Routing.Set(first, r)
		},
		"gates":     func(c *config.Config) { c.Gates.Set("another", nil) },
		"strict":    func(c *config.Config) { c.Rules.ResultRepair = config.RepairStrict },
		"challenge": func(c *config.Config) { c.Rules.ChallengeRequired = !c.Rules.ChallengeRequired },
	} {
		other := resultConfig()
		if change(other); SameRules(cfg, other) {
			t.Errorf("%s: results are not judged alike", name)
		}
	}
}
