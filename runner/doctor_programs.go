// Doctor: what agentxchain.json names on this machine, hooks, runtimes, prompts.

package runner

import (
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// hooks checks that the programs of lifecycle hooks can be started (spec/03 §11).
// A blocking hook that cannot start holds every turn up.
func (d *doctor) hooks(c *protocol.Config) {
	found := 0
	for _, phase := range protocol.HookPhases() {
		found += len(hooks.FromConfig(c, phase))
	}
	if found == 0 {
		return
	}
	problems := hooks.Problems(c, d.r.Store.Dir(), d.lookup)
	for _, p := range problems {
		level := LevelWarning
		if p.Blocking {
			level = LevelError
		}
		d.add("hooks", level, "install or export what it needs, or change hooks."+p.Phase+" in "+protocol.ConfigPath, "%s hook %s: %s", p.Phase, p.Hook, p.Message)
	}
	if len(problems) == 0 {
		d.ok("hooks", "%d hooks can be started", found)
	}
}

// lookup finds an environment variable; an empty one counts as not set.
func (d *doctor) lookup(name string) (string, bool) {
	v := d.r.opt.Getenv(name)
	return v, v != ""
}

// runtimes checks what each runtime that a role is bound to needs here.
func (d *doctor) runtimes(c *protocol.Config) {
	used, bad := 0, 0
	for id, rt := range c.Runtimes.All() {
		if rt == nil || !bound(c, id) {
			continue
		}
		used++
		problem, fix := "", "install it, or change runtimes."+id+" in "+protocol.ConfigPath
		switch rt.Type {
		case "local_cli", "mcp":
			if word := firstWord(rt.Raw); word != "" {
				problem = d.program(word, rt.Raw.String("cwd"))
			}
			if problem == "" {
				problem = d.unset(rt.Raw.Object("headers"))
			}
		case "api_proxy":
			if name := rt.Raw.String("auth_env"); name != "" && d.r.opt.Getenv(name) == "" {
				problem, fix = "the environment variable "+name+" is not set", "export "+name+" before the runtime is used"
			}
		case "remote_agent":
			problem = d.unset(rt.Raw.Object("headers"))
		}
		if problem != "" {
			bad++
			d.add("runtimes", LevelWarning, fix, "runtime %s (%s): %s", id, rt.Type, problem)
		}
	}
	if used > 0 && bad == 0 {
		d.ok("runtimes", "%d runtimes have what they need", used)
	}
}

func bound(c *protocol.Config, runtime string) bool {
	for _, role := range c.Roles.All() {
		if role != nil && role.RuntimeID == runtime {
			return true
		}
	}
	return false
}

// firstWord is the program of a runtime's command, which is one string or an
// argument vector (spec/01 §1.5).
func firstWord(raw *ojson.Object) string {
	if words := raw.Strings("command"); len(words) > 0 {
		return words[0]
	}
	if words := SplitCommand(raw.String("command")); len(words) > 0 {
		return words[0]
	}
	return ""
}

// program says why a program cannot be started from the project directory, or "".
func (d *doctor) program(word, cwd string) string {
	if strings.Contains(word, "{") {
		return "" // a placeholder; what it becomes is not known here
	}
	return hooks.ProgramProblem(word, filepath.Join(d.r.Store.Dir(), filepath.FromSlash(cwd)))
}

// unset names the environment variables that header values refer to as ${NAME}
// and that are not set.
func (d *doctor) unset(headers *ojson.Object) string {
	return hooks.UnsetVariables(headers, d.lookup)
}

// prompts checks the instruction files of roles.
func (d *doctor) prompts(c *protocol.Config) {
	for role, p := range c.Prompts.All() {
		fix := "write it, or change prompts." + role + " in " + protocol.ConfigPath
		clean, problem := protocol.CleanPath(p)
		if problem != "" {
			continue // the configuration's own finding
		}
		data, err := readProjectFile(d.r.Store.Dir(), clean, maxPrompt)
		switch {
		case err != nil:
			d.failed("config", err, fix)
		case data == nil:
			d.add("config", LevelWarning, fix, "the instructions of role %s, %s, do not exist", role, clean)
		}
	}
}
