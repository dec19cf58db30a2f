// Doctor: what agentxchain.json names on this machine, hooks, runtimes, prompts.

package runner

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// hooks checks that the programs of lifecycle hooks can be started (spec/03 §11).
// A blocking hook that cannot start holds every turn up.
func (d *doctor) hooks(c *protocol.Config) {
	found, bad := 0, 0
	for _, phase := range protocol.HookPhases() {
		for _, h := range c.Hooks.Objects(phase) {
			found++
			name := phase + " hook " + h.String("name")
			problem := ""
			switch h.String("type") {
			case "process":
				if words := h.Strings("command"); len(words) > 0 {
					problem = d.program(words[0], "")
				}
			case "http":
				problem = d.unset(h.Object("headers"))
			}
			if problem == "" {
				continue
			}
			bad++
			level := LevelWarning
			if h.String("mode") == "blocking" {
				level = LevelError
			}
			d.add("hooks", level, "install or export what it needs, or change hooks."+phase+" in "+protocol.ConfigPath, "%s: %s", name, problem)
		}
	}
	if found > 0 && bad == 0 {
		d.ok("hooks", "%d hooks can be started", found)
	}
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
	if !strings.ContainsRune(word, '/') && !strings.ContainsRune(word, filepath.Separator) {
		if _, err := exec.LookPath(word); err != nil {
			if errors.Is(err, exec.ErrDot) {
				return word + " is found in the current directory only, which is not safe to run"
			}
			return word + " is not on PATH"
		}
		return ""
	}
	full := word
	if !filepath.IsAbs(full) {
		full = filepath.Join(d.r.Store.Dir(), filepath.FromSlash(cwd), filepath.FromSlash(word))
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

// unset names the environment variables that header values refer to as ${NAME}
// and that are not set.
func (d *doctor) unset(headers *ojson.Object) string {
	var missing []string
	for _, v := range headers.All() {
		s, _ := v.(string)
		for {
			_, rest, ok := strings.Cut(s, "${")
			if !ok {
				break
			}
			name, after, ok := strings.Cut(rest, "}")
			if !ok {
				break
			}
			if d.r.opt.Getenv(name) == "" && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
			s = after
		}
	}
	switch len(missing) {
	case 0:
		return ""
	case 1:
		return "the environment variable " + missing[0] + " is not set"
	}
	return "the environment variables " + strings.Join(missing, ", ") + " are not set"
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
