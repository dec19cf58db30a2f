// Guards that no longer run, for status.

package guards

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/hooks/githooks"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Glance is what status reports about the guards in git's hooks.
type Glance struct {
	installed bool
	silent    []githooks.GuardState
	err       error // they cannot be examined
}

// Silent looks at the guards: it takes one look at a file when there never were any, one git
// process when there were.
func Silent(ctx context.Context, r *runner.Runner) Glance {
	st, err := githooks.Check(ctx, r.Record().Repository())
	if err != nil {
		return Glance{err: err}
	}
	return Glance{installed: st.Installed, silent: st.Silent()}
}

// Object returns the member "guards" of status --json.
func (g Glance) Object() *ojson.Object {
	silent := ojson.List(g.silent, func(s githooks.GuardState) *ojson.Object {
		return ojson.NewObject("hook", s.Name, "why", s.Why)
	})
	problem := any(nil)
	if g.err != nil {
		problem = g.err.Error()
	}
	return ojson.NewObject("installed", g.installed, "silent", silent, "problem", problem)
}

func (g Glance) Print(p *term.Printer) {
	switch {
	case g.err != nil:
		p.Field("Guards", "%s", p.Red(term.OneLine(g.err.Error())))
	case len(g.silent) > 0:
		names := make([]string, len(g.silent))
		for i, s := range g.silent {
			names[i] = s.Name
		}
		p.Field("Guards", "%s: %s; git agentxchain hooks status", p.Red("silent"), strings.Join(names, ", "))
	}
}
