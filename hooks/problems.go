// What configured hooks need and this machine lacks (docs/hooks.md#fields).

package hooks

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// Problem is a hook that cannot work here. A blocking one stops every turn.
type Problem struct {
	Phase, Hook string
	Blocking    bool
	Message     string // what is missing, without a full stop
}

// Problems checks that the program of every process hook can be started from root and that the variables in the
// headers of every http hook are set.
func Problems(c *config.Config, root string, lookupEnv func(string) (string, bool)) []Problem {
	var out []Problem
	for _, phase := range config.HookPhases() {
		for _, h := range FromConfig(c, phase) {
			if m := h.problem(root, lookupEnv); m != "" {
				out = append(out, Problem{Phase: phase, Hook: h.Name, Blocking: h.Blocking, Message: m})
			}
		}
	}
	return out
}

func (h Hook) problem(root string, lookupEnv func(string) (string, bool)) string {
	switch h.Type {
	case typeHTTP:
		return UnsetVariables(h.Headers, func(name string) (string, bool) {
			if h.Env.Has(name) {
				return h.Env.String(name), true
			}
			return lookupEnv(name)
		})
	case typeProcess:
		if len(h.Command) == 0 {
			return "it names no command"
		}
		return ProgramProblem(h.Command[0], root)
	}
	return h.typeProblem()
}

func (h Hook) typeProblem() string {
	return "its type " + ojson.Shown(h.Type) + " is none of " + typeProcess + ", " + typeHTTP
}

// ProgramProblem says why a program cannot be started from dir, or "". A bare name is searched on PATH; a name with
// a slash is a file, relative to dir.
func ProgramProblem(word, dir string) string {
	if !strings.ContainsRune(word, '/') && !strings.ContainsRune(word, filepath.Separator) {
		if _, err := exec.LookPath(word); err != nil {
			if errors.Is(err, exec.ErrDot) {
				return word + " is found in the current directory only, which is not safe to run"
			}
			return word + " is not on PATH"
		}
		return ""
	}
	full := filepath.FromSlash(word)
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, full)
	}
	info, err := os.Stat(full)
	switch {
	case err != nil:
		return word + " does not exist"
	case !info.Mode().IsRegular():
		return word + " is not a program"
	}
	if _, err := exec.LookPath(full); err != nil {
		return word + " is not executable"
	}
	return ""
}

// UnsetVariables names the environment variables that header values use as ${NAME} and that are unset or empty, as
// a sentence without its full stop; "" for none.
func UnsetVariables(headers *ojson.Object, lookupEnv func(string) (string, bool)) string {
	_, unset := webpost.Resolve(headers, func(name string) (string, bool) {
		v, ok := lookupEnv(name)
		return v, ok && v != ""
	})
	var names []string
	for _, u := range unset {
		if _, name, ok := strings.Cut(u, ":"); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "the environment variable " + names[0] + " is not set"
	}
	return "the environment variables " + strings.Join(names, ", ") + " are not set"
}
