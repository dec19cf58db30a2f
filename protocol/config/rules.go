// The rules of a configuration: which members govern, and one digest for all of them.

package config

import (
	"slices"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// A configuration mixes rules with settings. Rules decide what is accepted and what a person has to approve;
// settings say how the work is carried out and who is told of what. Every member is a rule unless it is listed
// here, so that a member this version does not know is compared like a rule.

// freeMembers are the top-level members that are settings:
//   - $schema is a hint for editors;
//   - prompts name the text that an agent is given, which no check reads;
//   - notifications and dashboard tell people what happened. Addresses among them
//     need trust (docs/threat-model.md).
var freeMembers = []string{"$schema", "prompts", "notifications", "dashboard"}

// freeProject names the project for people. project.id ties a run to its project.
var freeProject = []string{"name", "goal"}

// freeRole is text for the agent's prompt.
var freeRole = []string{"title", "mandate"}

// freeRuntime says how an agent is started or reached. A person trusts all of it on their machine, so that a broken
// command can be fixed during a run. The type and the capabilities of a runtime are rules: they decide what its
// roles may write.
var freeRuntime = []string{
	"command", "args", "cwd", "env", "prompt_transport", "startup_watchdog_ms", "startup_heartbeat_ms",
	"liveness_heartbeat_ms", "idle_timeout_ms", "timeout_ms", "timeout_seconds",
	"transport", "tool_name", "url", "headers",
	"provider", "model", "auth_env", "base_url", "max_output_tokens", "context_window_tokens",
	"preflight_tokenization", "retry_policy", "cost",
}

// freeRunLoop says when a silent agent counts as dead. The turn is then blocked or tried again, never accepted.
var freeRunLoop = []string{
	"startup_watchdog_ms", "startup_heartbeat_ms", "liveness_heartbeat_ms", "stale_turn_threshold_ms",
}

// DecodeGoverning decodes a configuration that may govern a run; nil when data is missing (nil), is not JSON, or
// has problems.
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

// rulesOf returns the members of the document that are rules. Null members count as absent, as everywhere else.
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

// Governing returns the bytes of the configuration that governs a running run: the rules of the recorded
// configuration with the settings of the working one. Rules take effect only when they are adopted. If the working
// rules equal the recorded ones, the working bytes are returned unchanged.
func Governing(recorded, working []byte) []byte {
	was, now := DecodeGoverning(recorded), DecodeGoverning(working)
	switch {
	case was == nil:
		return working // the recorded configuration governs nothing; any configuration is as strict
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

// withSettings returns rules with the settings of another document. Entries that only one of them has stay as rules
// has them.
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

// takeInside applies takeMembers to the objects that both have under a key.
func takeInside(dst, src *ojson.Object, key string, keys []string) {
	if to, from := dst.Object(key), src.Object(key); to != nil && from != nil {
		takeMembers(to, from, keys)
	}
}

// takeMembers sets the named members of dst to those of src.
func takeMembers(dst, src *ojson.Object, keys []string) {
	for _, k := range keys {
		if v, ok := src.Get(k); ok {
			dst.Set(k, ojson.CloneValue(v))
		} else {
			dst.Delete(k)
		}
	}
}

// without returns a copy of an object that lacks some members; any other value is returned unchanged.
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

// RulesDigest identifies the rules of a configuration: two configurations have the same digest exactly when
// RuleChanges finds no difference. It is the SHA-256 in hex, or "" for a missing or broken configuration (nil).
func RulesDigest(cfg *Config) string {
	if cfg == nil {
		return ""
	}
	rules := rulesOf(cfg)
	// The order of the phases is a rule; the order of other members means nothing.
	text := canonical(nil, ojson.NewObject("phases", rules.Object("routing").Keys(), "rules", rules))
	return wire.SHA256(text)
}

// canonical appends one spelling for all values that ojson.Equal considers equal.
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
