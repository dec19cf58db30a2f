// The rules of a configuration: which members govern, and one digest for all of them.

package config

import (
	"slices"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
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

// DecodeGoverning decodes a configuration that may govern, nil when data is none:
// missing (nil), not JSON, or with problems.
func DecodeGoverning(data []byte) *Config {
	if data == nil {
		return nil
	}
	cfg, problems, err := Decode(data)
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
			if v = without(v, freeRunLoop); isEmpty(v) {
				continue
			}
		case "roles":
			v = eachWithout(v, freeRole)
		case "runtimes":
			v = eachWithout(v, freeRuntime)
		}
		out.Set(key, v)
	}
	return out
}

func isEmpty(v ojson.Value) bool { o, ok := v.(*ojson.Object); return ok && o.Len() == 0 }

// Governing returns the bytes of the configuration that governs a run under way: the
// rules of the one on record with the settings of the working one. Members that are
// rules take effect only when they are adopted. The working bytes are returned as
// they are when their rules are the recorded ones.
func Governing(recorded, working []byte) []byte {
	was, now := DecodeGoverning(recorded), DecodeGoverning(working)
	switch {
	case was == nil:
		return working // what is on record governs nothing; every configuration is as strict
	case now == nil:
		return recorded
	case RulesDigest(was) == RulesDigest(now):
		return working
	}
	merged := withSettings(was.Raw, now.Raw)
	data := ojson.Pretty(merged)
	if cfg := DecodeGoverning(data); cfg == nil || RulesDigest(cfg) != RulesDigest(was) {
		return recorded
	}
	return data
}

// withSettings returns rules with the settings of another document. Entries that only
// one of them has stay as rules has them.
func withSettings(rules, settings *ojson.Object) *ojson.Object {
	out := rules.Clone()
	takeMembers(out, settings, freeMembers)
	takeInside(out, settings, "project", freeProject)
	if !out.Has("run_loop") && settings.Object("run_loop") != nil {
		out.Set("run_loop", &ojson.Object{})
	}
	takeInside(out, settings, "run_loop", freeRunLoop)
	for id := range out.Object("roles").All() {
		takeInside(out.Object("roles"), settings.Object("roles"), id, freeRole)
	}
	theirs := settings.Object("runtimes")
	for id := range out.Object("runtimes").All() {
		if out.Object("runtimes").Object(id).String("type") == theirs.Object(id).String("type") {
			takeInside(out.Object("runtimes"), theirs, id, freeRuntime)
		}
	}
	return out
}

// takeInside is takeMembers for the objects both have under a key.
func takeInside(dst, src *ojson.Object, key string, keys []string) {
	if to, from := dst.Object(key), src.Object(key); to != nil && from != nil {
		takeMembers(to, from, keys)
	}
}

// takeMembers makes the named members of dst those of src.
func takeMembers(dst, src *ojson.Object, keys []string) {
	for _, k := range keys {
		if v, ok := src.Get(k); ok {
			dst.Set(k, ojson.CloneValue(v))
		} else {
			dst.Delete(k)
		}
	}
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
	return wire.SHA256(text)
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
