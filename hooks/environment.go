// What process hooks see of our environment, and how secrets are kept out of records.

package hooks

import (
	"runtime"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	shapes "github.com/git-agentxchain/git-agentxchain/internal/secrets"
)

// inheritedNames returns the variables that a process hook always inherits, in order; a name ending in * means
// every name with that prefix. Others must be requested, by the hook's env_names or by the user's own setting.
// Variables of git (GIT_*) are never passed on, because they would tie the git commands of a hook to the command
// that runs it.
func inheritedNames() []string {
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

// minSecret is the shortest value to mask in texts: shorter values occur in any sentence.
const minSecret = 8

// environment returns the whole environment of a process hook: inherited and requested variables, the hook's own,
// and four names of ours that nothing overrides.
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

// ownEnv returns the hook's env, without names or values that an environment cannot hold.
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
	for _, p := range inheritedNames() {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && len(name) >= len(prefix) &&
			sameName(name[:len(prefix)], prefix) || sameName(p, name) {
			return true
		}
	}
	return false
}

func isGitName(name string) bool { return len(name) >= 4 && sameName(name[:4], "GIT_") }

// sameName compares names as the system does.
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
	for _, e := range slices.Backward(environ) { // the last one counts
		if k, v, ok := strings.Cut(e, "="); ok && sameName(k, name) {
			return v, true
		}
	}
	return "", false
}

// secrets are values that must not appear in records or messages.
type secrets []string

// add adds a value. The lines of a multi-line value are also masked.
func (s *secrets) add(value string) {
	for _, v := range append([]string{value}, strings.Split(value, "\n")...) {
		if v = strings.TrimSpace(v); len(v) >= minSecret && !slices.Contains(*s, v) {
			*s = append(*s, v)
		}
	}
}

// redact masks the secrets in text, longest first so that none leaves a remainder, and anything that looks like a
// secret.
func (s secrets) redact(text string) string {
	sorted := slices.Clone(s)
	slices.SortFunc(sorted, func(a, b string) int { return len(b) - len(a) })
	for _, v := range sorted {
		text = strings.ReplaceAll(text, v, "***")
	}
	return shapes.Redact(text)
}

// redactValue applies redact to every string in a JSON value.
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
