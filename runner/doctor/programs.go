// The hooks and prompts that agentxchain.json names on this machine.

package doctor

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// hooks checks that the programs of lifecycle hooks can be started (docs/hooks.md#fields). A
// blocking hook that cannot start holds up every turn.
func (d *doctor) hooks(c *config.Config) {
	found := 0
	for _, phase := range config.HookPhases() {
		found += len(hooks.FromConfig(c, phase))
	}
	if found == 0 {
		return
	}
	problems := hooks.Problems(c, d.rec.Dir(), d.lookup)
	for _, p := range problems {
		level := LevelWarning
		if p.Blocking {
			level = LevelError
		}
		d.add("hooks", level, "install, export or make executable what it needs, or change hooks."+p.Phase+" in "+wire.ConfigPath,
			"%s hook %s: %s", p.Phase, p.Hook, p.Message)
	}
	if len(problems) == 0 {
		d.ok("hooks", "%s can be started", text.Count(found, "hook", "hooks"))
	}
}

// lookup finds an environment variable; an empty one counts as not set.
func (d *doctor) lookup(name string) (string, bool) {
	v := d.r.Getenv(name)
	return v, v != ""
}

// prompts checks the instruction files of roles.
func (d *doctor) prompts(ctx context.Context, c *config.Config) {
	for role, p := range c.Prompts.All() {
		fix := "write it, or change prompts." + role + " in " + wire.ConfigPath
		clean, problem := wire.CleanPath(p)
		if problem != "" {
			continue // reported by the configuration's own check
		}
		data, err := projectfile.Read(d.rec.Dir(), clean, turnfiles.MaxPrompt)
		switch {
		case err != nil:
			d.failed("config", err, fix)
		case data == nil:
			if _, err := d.rec.Repository().Git.Run(ctx, nil, "ls-files", "--error-unmatch", "--", clean); err == nil {
				fix = "git restore " + shellWord(clean)
				if _, command := gitstore.LeftOut(ctx, d.rec.Repository()); command != "" {
					fix = command // git restores nothing that a sparse checkout leaves out
				}
			}
			d.add("config", LevelWarning, fix, "the instructions of role %s, %s, do not exist", role, clean)
		}
	}
}
