// Runtimes of every type except api_proxy, whose options are in apiproxy.go (docs/spec/configuration.md#runtimes).

package config

import (
	"fmt"
	"math"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (d *decoder) runtimes() {
	root := d.section(d.cfg.Raw, "", ProblemRuntime)
	if !root.o.Has("runtimes") {
		root.missing("runtimes", "an object of runtime definitions")
	}
	for e := range root.object("runtimes").entries() {
		rt := &Runtime{ID: e.key, Raw: e.o}
		d.cfg.Runtimes.Set(e.key, rt)
		e.named("a runtime")
		if !e.valid() {
			continue
		}
		rt.Type = e.o.String("type") // kept even when unknown, so that messages can name it
		s := e.section
		switch s.enum("type", true, "", RuntimeManual, "local_cli", "api_proxy", "mcp", "remote_agent") {
		case "local_cli":
			s.localCLI()
		case "api_proxy":
			s.apiProxy()
		case "mcp":
			s.mcp()
		case "remote_agent":
			s.webURL("url", true)
			s.textMap("headers")
			s.integer("timeout_ms", 1, math.MaxInt)
		}
		s.capabilities()
		s.isolation(rt.Type)
	}
}

// isolation checks how the program of a runtime is kept from the record, a member of ours. Unknown values are
// refused: the program would run without isolation.
func (s section) isolation(kind string) {
	if !s.o.Has("isolation") && !s.o.Has("isolation_user") {
		return
	}
	if kind != "local_cli" && (kind != "mcp" || s.o.Has("url")) {
		for _, k := range []string{"isolation", "isolation_user"} {
			if s.o.Has(k) {
				s.d.add(s.code, s.at(k), "", "%s is for runtimes that start a program: local_cli, and mcp over stdio",
					s.at(k))
			}
		}
		return
	}
	how := s.enum("isolation", false, "none", "none", "user", "bubblewrap", "landlock")
	user := s.text("isolation_user", false)
	switch {
	case how == "user" && user == "":
		s.missing("isolation_user", "the name of the user agents run as")
	case how != "user" && s.o.Has("isolation_user"):
		s.d.add(s.code, s.at("isolation_user"), user, "%s is for isolation user", s.at("isolation_user"))
	}
}

func (s section) localCLI() {
	s.nullable = []string{"command", "args", "cwd", "prompt_transport", "startup_watchdog_ms", "startup_heartbeat_ms",
		"liveness_heartbeat_ms"}
	words := s.command("command", false)
	words = append(words, s.arguments("args")...)
	s.text("cwd", false)
	for _, k := range []string{"startup_watchdog_ms", "startup_heartbeat_ms", "liveness_heartbeat_ms"} {
		s.integer(k, 1, math.MaxInt)
	}
	if s.enum("prompt_transport", false, "", "argv", "stdin", "dispatch_bundle_only") == "argv" &&
		!strings.Contains(strings.Join(words, "\x00"), "{prompt}") {
		s.d.add(s.code, s.at("prompt_transport"), "argv",
			"%s is argv, so command or args must contain {prompt}, where the prompt goes", s.at("prompt_transport"))
	}
}

// command reads a program as one string or as an argument vector and returns its words.
func (s section) command(key string, required bool) []string {
	const want = "a non-blank string or an array of strings whose first is not blank"
	v, ok := s.value(key)
	if !ok {
		if required {
			s.missing(key, want)
		}
		return nil
	}
	switch v := v.(type) {
	case string:
		if wire.Trim(v) != "" {
			return []string{v}
		}
	case []any:
		words := make([]string, 0, len(v))
		for _, w := range v {
			if t, ok := w.(string); ok {
				words = append(words, t)
			}
		}
		if len(v) > 0 && len(words) == len(v) && wire.Trim(words[0]) != "" {
			return words
		}
	}
	s.fail(key, want, v)
	return nil
}

// arguments reads an array of strings; an argument may be empty.
func (s section) arguments(key string) []string {
	a, _ := s.array(key)
	var out []string
	for i, v := range a {
		if t, ok := v.(string); ok {
			out = append(out, t)
		} else {
			s.fail(fmt.Sprintf("%s[%d]", key, i), "a string", v)
		}
	}
	return out
}

func (s section) mcp() {
	s.nullable = []string{"transport"}
	s.text("tool_name", false)
	refuse := func(transport string, keys ...string) {
		for _, k := range keys {
			if s.o.Has(k) {
				s.d.add(s.code, s.at(k), "", "%s cannot be used with the transport %s", s.at(k), transport)
			}
		}
	}
	switch s.enum("transport", false, "stdio", "stdio", "streamable_http") {
	case "stdio":
		s.command("command", true)
		s.arguments("args")
		s.text("cwd", false)
		refuse("stdio", "url", "headers")
	case "streamable_http":
		s.webURL("url", true)
		s.textMap("headers")
		refuse("streamable_http", "command", "args", "cwd")
	}
}

// webURL checks an absolute http or https URL. Messages do not repeat it: URLs contain tokens.
func (s section) webURL(key string, required bool) {
	const want = "an absolute http or https URL"
	v, ok := s.value(key)
	if !ok {
		if required {
			s.missing(key, want)
		}
		return
	}
	if t, ok := v.(string); !ok || !isWebURL(t) {
		s.failHidden(key, want)
	}
}

// capabilities checks the declared overrides of the base contract (docs/spec/README.md).
// Unknown words are refused: they would silently mean "can do nothing".
func (s section) capabilities() {
	c := s.object("capabilities", "can_write_files", "proposal_support", "workflow_artifact_ownership")
	c.enum("can_write_files", false, "", "direct", "proposal_only", "tool_defined", "unknown")
	c.enum("proposal_support", false, "", "none", "optional", "native", "tool_defined", "unknown")
	c.enum("workflow_artifact_ownership", false, "", "yes", "no", "proposal_apply_required", "tool_defined", "unknown")
}

// capability returns a declared capability of the runtime, or "".
func (r *Runtime) capability(key string) string {
	if r == nil {
		return ""
	}
	t, _ := r.Raw.Object("capabilities").Value(key).(string)
	return t
}
