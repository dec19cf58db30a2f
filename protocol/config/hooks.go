// Lifecycle hooks, as far as they can be judged without the environment (docs/hooks.md#fields).

package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const maxHooksPerPhase = 8

// HookPhases returns the hook phases in the order in which a turn reaches them.
func HookPhases() []string {
	return []string{"before_assignment", "after_dispatch", "before_validation", "after_validation",
		"before_acceptance", "after_acceptance", "before_gate", "on_escalation"}
}

// HookMayBlock reports whether hooks of the phase may block: the two phases that run after the commit may not.
func HookMayBlock(phase string) bool { return phase != "after_acceptance" && phase != "on_escalation" }

// hooks checks the shape only. Whether a command resolves and whether ${VAR} in a header is set depends on the
// machine, so doctor and the hook runner report that.
func (d *decoder) hooks() {
	d.cfg.Hooks = d.top("hooks", ProblemHook)
	d.section(d.cfg.Hooks, "hooks", ProblemHook).hookPhases(HookPhases())
}

// CheckHooks returns the problems of a hooks section outside agentxchain.json that has only the given phases; a nil
// section is empty.
func CheckHooks(hooks *ojson.Object, phases []string) wire.Problems {
	d := &decoder{cfg: &Config{}}
	d.section(hooks, "hooks", ProblemHook).hookPhases(phases)
	return d.problems
}

func (s section) hookPhases(phases []string) {
	for _, phase := range s.o.Keys() {
		if !slices.Contains(phases, phase) {
			s.d.add(s.code, s.at(phase), phase, "%s is not a hook phase; the phases are %s", s.at(phase),
				strings.Join(phases, ", "))
			continue
		}
		list, _ := s.array(phase)
		if len(list) > maxHooksPerPhase {
			s.d.add(s.code, s.at(phase), "", "%s must have at most %d hooks, not %d", s.at(phase), maxHooksPerPhase,
				len(list))
		}
		names := map[string]bool{}
		for h := range s.items(phase, list) {
			h.hook(phase, names)
		}
	}
}

func (s section) hook(phase string, names map[string]bool) {
	s.uniqueName(names)
	switch s.enum("type", true, "", "process", "http") {
	case "process":
		v, ok := s.value("command")
		if !ok {
			s.missing("command", "a non-empty array of strings")
		} else if a, isArray := v.([]any); !isArray || len(a) == 0 {
			s.fail("command", "a non-empty array of strings", v)
		} else {
			for i, w := range a {
				if t, ok := w.(string); !ok || i == 0 && wire.Trim(t) == "" {
					s.fail(fmt.Sprintf("command[%d]", i), "a string", w)
				}
			}
		}
	case "http":
		s.webURL("url", true)
		s.enum("method", true, "", "POST")
		s.textMap("headers")
	}
	s.deliveryTimeout()
	mode := s.enum("mode", true, "", "blocking", "advisory")
	if mode == "blocking" && !HookMayBlock(phase) {
		s.d.add(s.code, s.at("mode"), mode,
			"%s must be advisory: hooks of %s run when nothing can be held back", s.at("mode"), phase)
	}
	s.textMap("env")
	for i, v := range s.texts("env_names") { // names only: values stay on the machine
		if !isVariableName(v) || strings.HasPrefix(v, "GIT_") {
			s.fail(fmt.Sprintf("env_names[%d]", i), "the name of an environment variable that is not git's (GIT_)", v)
		}
	}
}

// isVariableName matches ^[A-Za-z_][A-Za-z0-9_]*$.
func isVariableName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// uniqueName checks the name of a hook or webhook.
func (s section) uniqueName(seen map[string]bool) {
	name := s.text("name", true)
	switch {
	case name == "":
	case !IsID(name):
		s.d.add(s.code, s.at("name"), name, "%s must consist of lowercase letters, digits, - and _, not %s",
			s.at("name"), ojson.Shown(name))
	case seen[name]:
		s.d.add(s.code, s.at("name"), name, "%s repeats the name %s", s.at("name"), ojson.Shown(name))
	default:
		seen[name] = true
	}
}

func (s section) deliveryTimeout() {
	if !s.o.Has("timeout_ms") {
		s.missing("timeout_ms", wantInteger(100, 30_000))
		return
	}
	s.integer("timeout_ms", 100, 30_000)
}
