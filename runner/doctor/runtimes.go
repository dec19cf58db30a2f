// Whether the runtimes that roles are bound to can be used (docs/runtimes.md).

package doctor

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// probeLimit bounds the time of all probes together; they run in parallel.
const probeLimit = 20 * time.Second

// RuntimeProbe is what is known about the program of a runtime.
type RuntimeProbe struct {
	ID      string
	Path    string
	Version string // as the agent reports it, "" where it was not asked
}

// runtimes probes each runtime that a role is bound to, once. When it cannot make the runtimes, it
// checks what their configuration names.
func (d *doctor) runtimes(ctx context.Context, c *config.Config) {
	var used []*config.Runtime
	var asked []func(context.Context) []runtimes.Finding
	for id, rt := range c.Runtimes.All() {
		if rt != nil && bound(c, id) {
			used = append(used, rt)
			asked = append(asked, d.probe(ctx, c, rt))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	found := make([][]runtimes.Finding, len(used))
	var wg sync.WaitGroup
	for i, ask := range asked {
		wg.Go(func() { found[i] = ask(ctx) })
	}
	wg.Wait()
	bad := 0
	for i, rt := range used {
		fine := true
		for _, f := range found[i] {
			fine = fine && f.OK
			d.runtime(rt, f)
		}
		if !fine {
			bad++
		}
	}
	if len(used) > 0 && bad == 0 {
		d.ok("runtimes", "%s, each with what it needs", text.Count(len(used), "runtime", "runtimes"))
	}
}

// runtime reports what a probe found: problems, and the agent that answered.
func (d *doctor) runtime(rt *config.Runtime, f runtimes.Finding) {
	probe := &RuntimeProbe{ID: rt.ID, Path: f.Path, Version: f.Version}
	switch {
	case !f.OK:
		fix := cmp.Or(f.Hint, "change runtimes."+rt.ID+" in "+wire.ConfigPath)
		d.add("runtimes", LevelWarning, fix, "runtime %s (%s): %s", rt.ID, rt.Type,
			strings.TrimSuffix(f.Message, ".")).Runtime = probe
	case f.Version != "":
		d.add("runtimes", LevelOK, "", "runtime %s: %s, %s", rt.ID, f.Message, f.Path).Runtime = probe
	}
}

// probe returns the probe of one runtime. Programs that the project could have brought along are
// started, and servers contacted, only online, and only if this machine trusts them.
func (d *doctor) probe(ctx context.Context, c *config.Config,
	rt *config.Runtime) func(context.Context) []runtimes.Finding {
	answer := func(f ...runtimes.Finding) func(context.Context) []runtimes.Finding {
		return func(context.Context) []runtimes.Finding { return f }
	}
	if d.opt.Runtime == nil || rt.Type == config.RuntimeManual {
		if p := d.runtimeProblem(rt); p != "" {
			return answer(runtimes.Finding{
				Message: p,
				Hint:    "install, export or make executable what it needs, or change runtimes." + rt.ID + " in " + wire.ConfigPath,
			})
		}
		return answer()
	}
	impl, err := d.opt.Runtime(rt)
	if err != nil {
		return answer(runtimes.Finding{Message: err.Error()})
	}
	trusted := d.r.RuntimeTrusted(ctx, c, rt.ID) == nil
	if d.opt.Online && !trusted {
		return answer(runtimes.Finding{
			Message: "it is not trusted on this machine, so it was not tried",
			Hint:    "git agentxchain hooks trust",
		})
	}
	req := &runtimes.ProbeRequest{
		Root:    d.rec.Dir(),
		Runtime: rt,
		Config:  c,
		Getenv:  d.r.Getenv,
		Environ: os.Environ(),
		Online:  d.opt.Online,
		Trusted: trusted,
	}
	return func(ctx context.Context) []runtimes.Finding { return impl.Probe(ctx, req) }
}

// runtimeProblem says what the configuration of a runtime names and this machine lacks, "" when
// nothing is missing.
func (d *doctor) runtimeProblem(rt *config.Runtime) string {
	switch rt.Type {
	case "local_cli", "mcp":
		if p := runtimes.ProgramProblem(rt.Raw, d.rec.Dir()); p != "" {
			return p
		}
		return d.unset(rt.Raw.Object("headers"))
	case "api_proxy":
		if name := rt.Raw.String("auth_env"); name != "" && d.r.Getenv(name) == "" {
			return "the environment variable " + name + " is not set"
		}
	case "remote_agent":
		return d.unset(rt.Raw.Object("headers"))
	}
	return ""
}

// bound reports whether a role is bound to the runtime.
func bound(c *config.Config, runtime string) bool {
	return slices.ContainsFunc(c.Roles.Keys(), func(id string) bool {
		role := c.Role(id)
		return role != nil && role.RuntimeID == runtime
	})
}

// unset returns the environment variables that header values refer to as ${NAME} and that are not
// set.
func (d *doctor) unset(headers *ojson.Object) string {
	return hooks.UnsetVariables(headers, d.lookup)
}
