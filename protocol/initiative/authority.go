// Who passes the gates of an initiative: the member authority of agentxchain-multi.json
// (docs/coordinator.md#who-may-approve).

package initiative

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// authority reads the member authority. It refuses members that only a run has: ignoring them would require less
// than was written.
func (d *decoder) authority() {
	a, problems := config.DecodeAuthority(d.cfg.Raw, d.cfg.hasGate)
	d.problems = append(d.problems, problems[:min(len(problems), maxProblems)]...)
	if d.cfg.Authority = a; a == nil {
		return
	}
	const code = config.ProblemAuthority
	o := d.cfg.Raw.Object("authority")
	for _, key := range []string{"acts", "signoff_documents"} {
		if o.Has(key) {
			d.add(code, "authority."+key, "", "authority.%s is for a run: declare it in the %s of the repositories", key,
				config.ConfigFile)
		}
	}
	for gate, g := range a.Gates.All() {
		if g.NotAuthor {
			d.add(code, "authority.gates."+gate+".not_author", "",
				"authority.gates.%s.not_author is for a run: declare it in the %s of the repositories", gate, config.ConfigFile)
		}
	}
	if v, has := o.Get("protected_branch"); has {
		if s, ok := textOf(v); ok && !strings.HasPrefix(s, "-") && !strings.ContainsAny(s, "*?[\\:^~ ") {
			d.cfg.ProtectedBranch = strings.TrimSpace(s)
		} else {
			d.wrong(code, "authority.protected_branch", "the name of a branch", v)
		}
	}
}

// hasGate reports whether gate is a gate of the initiative, or the name for all gates between phases.
func (c *Config) hasGate(gate string) bool {
	if gate == ShipGate || gate == GatePhase {
		return true
	}
	phases := c.Phases()
	for i := 1; i < len(phases); i++ {
		if gate == phaseGate(phases[i-1], phases[i]) {
			return true
		}
	}
	return false
}

// phaseGate returns the id of the gate between two phases.
func phaseGate(from, to string) string { return GatePhase + ":" + from + "->" + to }

// GateRule returns whose approval a gate needs; nil when any person may approve.
func (c *Config) GateRule(gate string) *config.GateRule {
	if r := c.Authority.GateRule(gate); r != nil || !strings.HasPrefix(gate, GatePhase+":") {
		return r
	}
	return c.Authority.GateRule(GatePhase)
}

// rulesBetween returns the rules of the way from one phase to another; "" means the first phase or the end. A row
// or configuration that leaves phases out, or puts others between, does not avoid the gates that this configuration
// declares.
func (c *Config) rulesBetween(from, to string) []*config.GateRule {
	phases := c.Phases()
	if from == "" && len(phases) > 0 {
		from = phases[0]
	}
	gate := gateOf(from, to)
	var out []*config.GateRule
	if r := c.GateRule(gate); r != nil {
		out = append(out, r)
	}
	first, last := slices.Index(phases, from), len(phases)-1
	if to != "" {
		last = slices.Index(phases, to)
	}
	if first < 0 {
		first = last - 1 // not a phase of this configuration: the gate into the other one
	}
	if last < 0 {
		last = first + 1 // and the gate out of it
	}
	for i := max(first, 0); i < min(last, len(phases)-1); i++ {
		passed := phaseGate(phases[i], phases[i+1])
		if r := c.Authority.GateRule(passed); r != nil && passed != gate {
			out = append(out, r)
		}
	}
	return out
}

// gateOf returns the id of the gate between two phases; to is "" at the end of the initiative.
func gateOf(from, to string) string {
	if to == "" {
		return ShipGate
	}
	return phaseGate(from, to)
}

// RulesDigest identifies the configuration under which people decide: the SHA-256 in hex of the document without
// its layout.
func (c *Config) RulesDigest() string { return wire.SHA256(ojson.Compact(c.Raw)) }

// SameAuthority reports whether two configurations ask the same people; nil means one without authority.
func SameAuthority(a, b *Config) bool {
	of := func(c *Config) any {
		if c == nil || c.Authority == nil {
			return nil
		}
		return c.Raw.Value("authority")
	}
	return ojson.Equal(of(a), of(b))
}
