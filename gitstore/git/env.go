// The environment of our own git processes.

package git

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// KeptVars are the git variables that are passed on from our environment. Every other GIT_* is dropped: it could
// name a program (GIT_SSH_COMMAND, GIT_EXTERNAL_DIFF, GIT_EXEC_PATH), attributes, a file to write to (GIT_TRACE) or
// another history (GIT_GRAFT_FILE). A test compares this list with docs/threat-model.md.
var KeptVars = []string{
	// Git sets these for its hooks: where the repository is, which index a partial
	// commit is made from, where a push's objects are kept until they are judged.
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_SHALLOW_FILE",
	// Who acts, and when.
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
	"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
	// Where the configuration outside the repository is.
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	// How far up git looks for a repository, and how it creates one.
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT",
}

// TransportVars are also kept for talking to a person's own remote.
var TransportVars = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_ALLOW_PROTOCOL",
	"GIT_PROTOCOL_FROM_USER", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_NO_VERIFY",
}

// LocalEnvVars are those of `git rev-parse --local-env-vars` that locate or shape one repository.
// GIT_CONFIG_PARAMETERS and GIT_CONFIG_COUNT are left out on purpose: they carry the user's -c settings, which are
// not tied to a repository. GIT_QUARANTINE_PATH belongs to them although git does not list it.
var LocalEnvVars = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_OBJECT_DIRECTORY", "GIT_DIR",
	"GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_REF_STORAGE_FORMAT", "GIT_QUARANTINE_PATH",
}

// ownVars is set for every git of ours.
var ownVars = []string{
	// Messages are only matched where git has no exit code for the case, and then in the one locale that does not
	// change.
	"LC_ALL=C",
	"GIT_TERMINAL_PROMPT=0",
	// Reads must not take index.lock: the user's own git may run at the same time.
	"GIT_OPTIONAL_LOCKS=0",
	// A replace ref could show another history than the recorded one.
	"GIT_NO_REPLACE_OBJECTS=1",
	// So could grafts. git does not complain about a missing list.
	"GIT_GRAFT_FILE=" + os.DevNull + "/none",
	// Paths are literal here, never patterns: a directory may be called ":(top)".
	"GIT_LITERAL_PATHSPECS=1",
	// No other program shows, edits or asks for anything.
	"GIT_PAGER=cat",
	"GIT_EDITOR=:",
	"GIT_SEQUENCE_EDITOR=:",
	"GIT_ASKPASS=",
	"GIT_PROXY_COMMAND=",
	// A partial clone may fetch missing objects, but not with a helper program.
	"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
	// Guards in git's hooks need not judge what was just computed.
	storeMarker,
}

// newEnv makes the environment of git from the one we were started in.
func newEnv(env []string, path string) []string {
	out := make([]string, 0, len(env)+len(ownVars)+1)
	for _, kv := range env {
		switch k, _, _ := strings.Cut(kv, "="); {
		case k == "LC_ALL", k == "LANGUAGE", k == "AGENTXCHAIN_STORE", k == "PATH":
		case strings.HasPrefix(k, "GIT_") && !slices.Contains(KeptVars, k):
		default:
			out = append(out, kv)
		}
	}
	return append(append(out, ownVars...), "PATH="+path)
}

// Transport returns git for talking to a person's remote: with the transport program that their environment names,
// and any protocol that their configuration allows.
func (g *Git) Transport() *Git {
	t := g.In(g.Dir)
	t.Env = dropVars(t.Env, TransportVars)
	for _, kv := range os.Environ() {
		if k, _, _ := strings.Cut(kv, "="); slices.Contains(TransportVars, k) {
			t.Env = append(t.Env, kv)
		}
	}
	return t
}

// WithHooks returns the only git that starts hooks, from a directory, with additional variables. Hooks and the
// signing program may be looked up anywhere on the person's PATH.
func (g *Git) WithHooks(dir string, environ ...string) *Git {
	c := g.In(g.Dir)
	c.hooksPath = dir
	c.Env = append(append(dropVars(c.Env, []string{"PATH"}), "PATH="+os.Getenv("PATH")), environ...)
	return c
}

func dropVars(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, k)
	})
}

// Var returns a variable of git's environment, "" when there is none of that name.
func (g *Git) Var(name string) string { return lastVar(g.Env, name) }

func lastVar(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// givenSettings returns the settings in an environment ("git -c key=value agentxchain"), without those that name a
// program.
func givenSettings(env []string) []gitconfig.Entry {
	get := func(name string) string { return lastVar(env, name) }
	var all []gitconfig.Entry
	n, _ := strconv.Atoi(get("GIT_CONFIG_COUNT"))
	for i := range min(n, maxGiven) {
		all = append(all, gitconfig.Entry{
			Key:   get(fmt.Sprintf("GIT_CONFIG_KEY_%d", i)),
			Value: get(fmt.Sprintf("GIT_CONFIG_VALUE_%d", i)),
		})
	}
	all = append(all, parseGiven(get("GIT_CONFIG_PARAMETERS"))...)
	return slices.DeleteFunc(all, func(e gitconfig.Entry) bool {
		return e.Key == "" || gitconfig.ClassOf(gitconfig.Lower(e.Key)) == gitconfig.KeyProgram
	})
}

// maxGiven bounds the number of settings taken from an environment.
const maxGiven = 1000

// parseGiven parses GIT_CONFIG_PARAMETERS: words in single quotes, 'key=value' as git before 2.31 wrote them, or
// 'key'='value'. It drops what it cannot parse.
func parseGiven(text string) []gitconfig.Entry {
	var out []gitconfig.Entry
	for {
		text = strings.TrimLeft(text, " ")
		key, rest, ok := unquoteGiven(text)
		if !ok {
			return out
		}
		e := gitconfig.Entry{Key: key, Value: "true"}
		if strings.HasPrefix(rest, "=") {
			if e.Value, rest, ok = unquoteGiven(rest[1:]); !ok {
				e.Value, rest = "true", strings.TrimPrefix(rest, "=") // 'key'= is a key without a value
			}
		} else if k, v, ok := strings.Cut(key, "="); ok {
			e = gitconfig.Entry{Key: k, Value: v}
		}
		if out, text = append(out, e), rest; len(out) >= maxGiven {
			return out
		}
	}
}

// unquoteGiven reads a word in single quotes; \' and \! occur outside the quotes.
func unquoteGiven(text string) (word, rest string, ok bool) {
	var b strings.Builder
	for {
		var in string
		if text, ok = strings.CutPrefix(text, "'"); !ok {
			return "", text, false
		}
		if in, text, ok = strings.Cut(text, "'"); !ok {
			return "", text, false
		}
		b.WriteString(in)
		if len(text) < 3 || text[0] != '\\' || text[1] != '\'' && text[1] != '!' || text[2] != '\'' {
			return b.String(), text, true
		}
		b.WriteByte(text[1])
		text = text[2:]
	}
}

// configured adds settings to an environment. They are passed in variables because a "-c" cannot express every
// name.
func configured(env []string, settings []gitconfig.Entry) []string {
	out := make([]string, 0, len(env)+2*len(settings)+1)
	out = append(out, env...)
	for n, s := range settings {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s.Key),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s.Value))
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
}
