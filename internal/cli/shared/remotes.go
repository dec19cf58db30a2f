// Remotes: what is missing on them, and what only they have.

package shared

import (
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// PrintRemotes prints what is here and not on a remote, and the other way round; unit is operations
// of a run or changes of an initiative.
func PrintRemotes(p *term.Printer, list []runner.RemoteStanding, unit string) {
	for _, m := range list {
		remote := term.OneLine(m.Remote)
		switch {
		case m.Ahead > 0 && m.Behind > 0:
			since := ""
			if !m.Since.IsZero() { // both sides have something in common
				since = " since " + m.Since.Local().Format("15:04 on 2006-01-02")
			}
			p.Field("Remote", "%s; git agentxchain sync %s",
				p.Yellow("diverged from "+remote+since+": "+strconv.Itoa(m.Ahead)+" here, "+strconv.Itoa(m.Behind)+" there"), remote)
		case m.Ahead > 0:
			p.Field("Remote", "%s not on %s; git agentxchain sync %s", term.Counted(m.Ahead, unit), remote, remote)
		case m.Behind > 0:
			p.Field("Remote", "%s is %d ahead; git agentxchain sync %s", remote, m.Behind, remote)
		}
	}
}
