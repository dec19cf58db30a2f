// What process hooks see of our environment, and keeping secrets to ourselves.

package hooks

import (
	"runtime"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	shapes "github.com/git-agentxchain/git-agentxchain/internal/secrets"
)

// InheritedNames returns the variables a process hook always inherits, in
// order; a name ending in * stands for every name that begins so. Others must be
// asked for: by the hook's env_names or by the person's own setting. Nothing of
// git's (GIT_*) is ever handed on, for it would tie the git commands of a hook
// to the command that runs it.
func InheritedNames() []string {
	names := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP",
		"TERM", "XDG_*"}
	if runtime.GOOS == "windows" {
		names = append(names, "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE",
			"USERNAME", "HOMEDRIVE", "HOMEPATH",
			"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
			"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE")
	}
	return names
}

// minSecret is the shortest value that is taken out of texts: shorter ones are
// found in every sentence.
const minSecret = 8

// environment is the whole environment of a process hook: what is inherited,
// what is asked for, the hook's own, and the four names that are ours and that
// nothing overrides.
func (r *Runner) environment(h Hook, call Call) []string {
	asked := slices.Concat(r.ExtraEnvNames, h.EnvNames)
	var env []string
	for _, kv := range r.environ() {
		name, _, ok := strings.Cut(kv, "=")
		if ok && !isGitName(name) &&
			(inherited(name) || slices.ContainsFunc(asked, func(a string) bool { return sameName(a, name) })) {
			env = append(env, kv)
		}
	}
	ours := []string{"AGENTXCHAIN_HOOK_PHASE=" + call.Phase, "AGENTXCHAIN_HOOK_NAME=" + h.Name,
		"AGENTXCHAIN_RUN_ID=" + call.RunID, "AGENTXCHAIN_PROJECT_ROOT=" + r.Root}
	env = append(env, ownEnv(h)...)
	env = slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(ours, func(o string) bool {
			own, _, _ := strings.Cut(o, "=")
			return sameName(own, name)
		})
	})
	return append(env, ours...)
}

// ownEnv is the hook's env. A name or value no environment can hold is left out.
func ownEnv(h Hook) []string {
	var env []string
	for name, v := range h.Env.All() {
		if s, ok := v.(string); ok && name != "" && !strings.ContainsAny(name, "=\x00") &&
			!strings.Contains(s, "\x00") {
			env = append(env, name+"="+s)
		}
	}
	return env
}

func inherited(name string) bool {
	for _, p := range InheritedNames() {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && len(name) >= len(prefix) &&
			sameName(name[:len(prefix)], prefix) || sameName(p, name) {
			return true
		}
	}
	return false
}

func isGitName(name string) bool { return len(name) >= 4 && sameName(name[:4], "GIT_") }

// sameName compares names the way the system does.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// lookup finds variables of header values: the hook's own env first, then all of
// our environment (docs/hooks.md#fields).
func (r *Runner) lookup(h Hook) func(string) (string, bool) {
	environ := r.environ()
	return func(name string) (string, bool) {
		if v, ok := h.Env.Get(name); ok {
			s, isText := v.(string)
			return s, isText
		}
		return lookupIn(environ, name)
	}
}

func lookupIn(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- { // the last one counts
		if k, v, ok := strings.Cut(environ[i], "="); ok && sameName(k, name) {
			return v, true
		}
	}
	return "", false
}

// secrets are values that must not get into what is recorded or said.
type secrets []string

// add takes a value up. Values of several lines are also known by their lines.
func (s *secrets) add(value string) {
	for _, v := range append([]string{value}, strings.Split(value, "\n")...) {
		if v = strings.TrimSpace(v); len(v) >= minSecret && !slices.Contains(*s, v) {
			*s = append(*s, v)
		}
	}
}

// redact masks the secrets in text, longest first so that none leaves its rest, and what looks like one.
func (s secrets) redact(text string) string {
	sorted := slices.Clone(s)
	slices.SortFunc(sorted, func(a, b string) int { return len(b) - len(a) })
	for _, v := range sorted {
		text = strings.ReplaceAll(text, v, "***")
	}
	return shapes.Redact(text)
}

// redactValue is redact for every string in a JSON value.
func (s secrets) redactValue(v ojson.Value) ojson.Value {
	switch v := v.(type) {
	case string:
		return s.redact(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.redactValue(v[i])
		}
		return out
	case *ojson.Object:
		out := ojson.NewObject()
		for k, m := range v.All() {
			out.Set(s.redact(k), s.redactValue(m))
		}
		return out
	}
	return v
}
