// Completing the parts of a configuration that fixtures omit (docs/conformance.md#becoming-a-target).

package conformance

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// defaultRuntime is the runtime of a role that names none; only this runtime is declared for it.
const defaultRuntime = "manual"

// inflateConfig returns a copy of a fixture's configuration with the defaults of
// docs/conformance.md#becoming-a-target; nil and null mean the empty configuration. It fails when the shape of a
// section prevents this.
func inflateConfig(v ojson.Value) (*ojson.Object, error) {
	if v == nil {
		v = ojson.NewObject()
	}
	raw, ok := v.(*ojson.Object)
	if !ok {
		return nil, fmt.Errorf("must be an object, not %s", ojson.TypeName(v))
	}
	c := raw.Clone()
	fill(c, "schema_version", "1.0")
	fill(c, "project", ojson.NewObject("id", "conformance-target", "name", "Conformance Target"))
	for _, k := range []string{"roles", "runtimes", "routing", "gates", "rules"} {
		fill(c, k, ojson.NewObject())
		if v, _ := c.Get(k); c.Object(k) == nil {
			return nil, fmt.Errorf("%s must be an object, not %s", k, ojson.TypeName(v))
		}
	}
	runtimes := c.Object("runtimes")
	for id, v := range c.Object("roles").All() {
		role, ok := v.(*ojson.Object)
		if !ok {
			return nil, fmt.Errorf("roles.%s must be an object, not %s", text.Clip(id, 80), ojson.TypeName(v))
		}
		fill(role, "title", strings.ToUpper(id))
		fill(role, "mandate", "Execute "+id+" responsibilities.")
		fill(role, "write_authority", wire.Authoritative)
		fill(role, "runtime", defaultRuntime)
		if role.String("runtime") == defaultRuntime && !runtimes.Has(defaultRuntime) {
			runtimes.Set(defaultRuntime, ojson.NewObject("type", config.RuntimeManual))
		}
	}
	for _, section := range []string{"runtimes", "routing", "gates"} {
		for id, v := range c.Object(section).All() {
			o, ok := v.(*ojson.Object)
			if !ok {
				return nil, fmt.Errorf("%s.%s must be an object, not %s", section, text.Clip(id, 80),
					ojson.TypeName(v))
			}
			if section == "runtimes" {
				fill(o, "type", config.RuntimeManual)
			}
		}
	}
	fill(c.Object("rules"), "challenge_required", true)
	return c, nil
}

// fill sets a member that is absent or null.
func fill(o *ojson.Object, key string, v any) {
	if o.Value(key) == nil {
		o.Set(key, v)
	}
}

// subset returns the findings about a configuration that count for fixtures
// (docs/conformance.md#becoming-a-target). Fixture configurations are abbreviated: a runtime without a command, or
// a review role on a writing runtime, says nothing about the rule that the fixture tests.
func subset(problems wire.Problems) wire.Problems {
	var out wire.Problems
	for _, p := range problems {
		switch p.Code {
		case config.ProblemSchemaVersion, config.ProblemLegacyConfig, config.ProblemUndeclaredRuntime,
			config.ProblemUndeclaredRole, config.ProblemUndeclaredGate, config.ProblemMaxConcurrentTurns:
			out = append(out, p)
		}
	}
	return out
}
