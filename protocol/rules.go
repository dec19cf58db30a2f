// The rules of a configuration: which members govern, and one digest for all of them.

package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// A configuration mixes rules with settings. Rules decide what is accepted and
// what a person has to approve; settings say how the work is carried out and what
// is told to whom. Every member is a rule unless it is listed here, so that a
// member this version does not know is compared like a rule.

// freeMembers are the top-level members that are settings:
//   - $schema is a hint for editors;
//   - prompts name the text an agent is given, which no check reads;
//   - notifications and dashboard tell people what happened. Addresses among them
//     need trust (docs/threat-model.md).
var freeMembers = []string{"$schema", "prompts", "notifications", "dashboard"}

// freeProject names the project for people. project.id ties a run to its project.
var freeProject = []string{"name", "goal"}

// freeRole is text of the agent's prompt.
var freeRole = []string{"title", "mandate"}

// freeRuntime says how an agent is started or reached. All of it is part of what a
// person trusts on their machine, so that a broken command can be mended while a run
// is under way. The type and the capabilities of a runtime are rules: they decide
// what its roles may write.
var freeRuntime = []string{
	"command", "args", "cwd", "env", "prompt_transport", "startup_watchdog_ms", "startup_heartbeat_ms",
	"liveness_heartbeat_ms", "idle_timeout_ms", "timeout_ms", "timeout_seconds",
	"transport", "tool_name", "url", "headers",
	"provider", "model", "auth_env", "base_url", "max_output_tokens", "context_window_tokens",
	"preflight_tokenization", "retry_policy", "cost",
}

// freeRunLoop says when a silent agent is taken for dead. The turn is then blocked
// or tried again, never accepted.
var freeRunLoop = []string{
	"startup_watchdog_ms", "startup_heartbeat_ms", "liveness_heartbeat_ms", "stale_turn_threshold_ms",
}

// GoverningConfig decodes a configuration that may govern, nil when data is none:
// missing (nil), not JSON, or with problems.
func GoverningConfig(data []byte) *Config {
	if data == nil {
		return nil
	}
	cfg, problems, err := DecodeConfig(data)
	if err != nil || len(problems) > 0 {
		return nil
	}
	return cfg
}

// rulesOf returns the members of the document that are rules. Members that are
// null count as absent, as they do where they are read.
func rulesOf(cfg *Config) *ojson.Object {
	out := &ojson.Object{}
	for key, v := range cfg.Raw.All() {
		if v == nil || slices.Contains(freeMembers, key) {
			continue
		}
		switch key {
		case "project":
			v = without(v, freeProject)
		case "run_loop":
			v = without(v, freeRunLoop)
		case "roles":
			v = eachWithout(v, freeRole)
		case "runtimes":
			v = eachWithout(v, freeRuntime)
		}
		out.Set(key, v)
	}
	return out
}

// without returns a copy of an object that lacks some members; anything else is
// returned as it is.
func without(v ojson.Value, keys []string) ojson.Value {
	o, ok := v.(*ojson.Object)
	if !ok {
		return v
	}
	out := &ojson.Object{}
	for k, member := range o.All() {
		if !slices.Contains(keys, k) {
			out.Set(k, member)
		}
	}
	return out
}

func eachWithout(v ojson.Value, keys []string) ojson.Value {
	o, ok := v.(*ojson.Object)
	if !ok {
		return v
	}
	out := &ojson.Object{}
	for k, member := range o.All() {
		out.Set(k, without(member, keys))
	}
	return out
}

// RulesDigest stands for the rules of a configuration: two configurations have the
// same digest exactly when RuleChanges finds nothing between them. It is the SHA-256
// in hex, "" for a configuration that is missing or broken (nil).
func RulesDigest(cfg *Config) string {
	if cfg == nil {
		return ""
	}
	rules := rulesOf(cfg)
	// The order of the phases is a rule; the order of other members means nothing.
	text := canonical(nil, ojson.NewObject("phases", rules.Object("routing").Keys(), "rules", rules))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonical appends one spelling for all values that ojson.Equal takes for the same.
func canonical(b []byte, v ojson.Value) []byte {
	switch v := v.(type) {
	case *ojson.Object:
		keys := slices.Clone(v.Keys())
		slices.Sort(keys)
		b = append(b, '{')
		for _, k := range keys {
			member, _ := v.Get(k)
			b = append(ojson.AppendString(b, k), ':')
			b = append(canonical(b, member), ',')
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = append(canonical(b, item), ',')
		}
		return append(b, ']')
	case ojson.Number:
		f, ok := v.Float64()
		if !ok {
			return append(b, v...)
		}
		if f == 0 {
			f = 0 // -0 equals 0
		}
		return strconv.AppendFloat(b, f, 'g', -1, 64)
	}
	return append(b, ojson.Compact(v)...)
}
