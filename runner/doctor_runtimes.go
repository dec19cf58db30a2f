// Doctor: whether the runtimes that roles are bound to could be used (docs/runtimes.md).

package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// runtimes probes each runtime that a role is bound to, once. Without the runtimes
// themselves at hand it looks at what their configuration names.
func (d *doctor) runtimes(ctx context.Context, c *config.Config) {
	used, bad := 0, 0
	for id, rt := range c.Runtimes.All() {
		if rt == nil || !bound(c, id) {
			continue
		}
		used++
		fine := true
		for _, f := range d.probe(ctx, c, rt) {
			if f.OK {
				continue
			}
			fine = false
			fix := f.Hint
			if fix == "" {
				fix = "change runtimes." + id + " in " + wire.ConfigPath
			}
			d.add("runtimes", LevelWarning, fix, "runtime %s (%s): %s", id, rt.Type, strings.TrimSuffix(f.Message, "."))
		}
		if !fine {
			bad++
		}
	}
	if used > 0 && bad == 0 {
		d.ok("runtimes", "%d runtimes have what they need", used)
	}
}

// probe asks one runtime. Programs are started and servers contacted only online,
// and only what this machine trusts.
func (d *doctor) probe(ctx context.Context, c *config.Config, rt *config.Runtime) []runtimes.Finding {
	if d.opt.Runtime == nil || rt.Type == config.RuntimeManual {
		if p := d.runtimeProblem(rt); p != "" {
			return []runtimes.Finding{{Message: p, Hint: "install or export what it needs, or change runtimes." + rt.ID + " in " + wire.ConfigPath}}
		}
		return nil
	}
	impl, err := d.opt.Runtime(rt)
	if err != nil {
		return []runtimes.Finding{{Message: err.Error()}}
	}
	req := &runtimes.ProbeRequest{Root: d.r.Store.Dir(), Runtime: rt, Config: c, Getenv: d.r.opt.Getenv, Environ: os.Environ(), Online: d.opt.Online}
	if req.Online {
		if err := d.r.RuntimeTrusted(ctx, c, rt.ID); err != nil {
			return []runtimes.Finding{{Message: "it is not trusted on this machine, so it was not tried", Hint: "git agentxchain hooks trust"}}
		}
	}
	return impl.Probe(ctx, req)
}

// runtimeProblem says what the configuration of a runtime names and this machine
// does not have, "" when nothing is missing.
func (d *doctor) runtimeProblem(rt *config.Runtime) string {
	switch rt.Type {
	case "local_cli", "mcp":
		if words := runtimes.Command(rt.Raw); len(words) > 0 && !strings.Contains(words[0], "{") {
			if p := hooks.ProgramProblem(words[0], filepath.Join(d.r.Store.Dir(), filepath.FromSlash(rt.Raw.String("cwd")))); p != "" {
				return p
			}
		}
		return d.unset(rt.Raw.Object("headers"))
	case "api_proxy":
		if name := rt.Raw.String("auth_env"); name != "" && d.r.opt.Getenv(name) == "" {
			return "the environment variable " + name + " is not set"
		}
	case "remote_agent":
		return d.unset(rt.Raw.Object("headers"))
	}
	return ""
}

// bound reports whether some role's turns go to the runtime.
func bound(c *config.Config, runtime string) bool {
	return slices.ContainsFunc(c.Roles.Keys(), func(id string) bool {
		role := c.Role(id)
		return role != nil && role.RuntimeID == runtime
	})
}

// unset names the environment variables that header values refer to as ${NAME}
// and that are not set.
func (d *doctor) unset(headers *ojson.Object) string {
	return hooks.UnsetVariables(headers, d.lookup)
}
