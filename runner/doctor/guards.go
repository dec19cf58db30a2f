// Whether the guards in git's own hooks still run.

package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/hooks/githooks"
)

// guards reports guards that were installed and no longer run: git says nothing when it does not
// find a hook.
func (d *doctor) guards(ctx context.Context) {
	st, err := githooks.Check(ctx, d.rec.Repository())
	if err != nil {
		d.failed("guards", err, "git agentxchain hooks status")
		return
	}
	for _, prefix := range st.Gone {
		d.add("guards", LevelNote, "", "%s", githooks.GoneText(prefix))
	}
	if len(st.Others) > 0 {
		d.add("guards", LevelNote, "", "the guards in git's hooks were installed for other projects of this repository and do not "+
			"judge this one, so a commit can rewrite the run's records; to install them: git agentxchain hooks install")
		return
	}
	if !st.Installed {
		d.add("guards", LevelNote,
			"", "no guards are installed in git's hooks, so a commit can rewrite the run's records; to install them: git agentxchain hooks install")
		return
	}
	silent := st.Silent()
	if len(silent) == 0 {
		d.ok("guards", "%s guard this repository", guardNames(st.Guards))
		return
	}
	// Usually one cause silences several.
	for len(silent) > 0 {
		why := silent[0].Why
		same := slices.DeleteFunc(slices.Clone(silent), func(g githooks.GuardState) bool { return g.Why != why })
		silent = slices.DeleteFunc(silent, func(g githooks.GuardState) bool { return g.Why == why })
		d.add("guards", LevelWarning, "git agentxchain hooks install, then: git agentxchain hooks canary",
			"silent: %s: %s", guardNames(same), why)
	}
}

func guardNames(guards []githooks.GuardState) string {
	names := make([]string, len(guards))
	for i, g := range guards {
		names[i] = g.Name
	}
	return strings.Join(names, ", ")
}
