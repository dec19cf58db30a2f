// Waiting proposals, in the documents of a turn that may change the work (docs/bundles.md#what-is-in-it).

package dispatch

import "github.com/git-agentxchain/git-agentxchain/protocol/wire"

// Waiting is a proposal of an earlier turn that is neither applied nor rejected.
type Waiting struct {
	Turn, Role, Summary string

	Files []string // files that are not applied
}

// maxWaiting is how many proposals CONTEXT.md lists.
const maxWaiting = 20

// proposals adds the section of CONTEXT.md that says which proposals wait and how the turn makes one its own work.
// Remote agents run no commands, and other roles change nothing.
func (v *view) proposals(d *document) {
	if len(v.Proposals) == 0 || v.role.WriteAuthority != wire.Authoritative || v.remote() {
		return
	}
	d.block("## Proposals")
	d.block("Roles that cannot write have proposed these changes, which are not in the work tree. " +
		"What this turn applies is its own work: it answers for it and declares the files.")
	for _, p := range v.Proposals[:min(len(v.Proposals), maxWaiting)] {
		var l list
		l.field("Turn", code(p.Turn))
		l.field("Role", line(p.Role))
		l.field("Summary", orDash(line(p.Summary)))
		l.field("Files", inlineCodes(p.Files))
		l.field("Look at it", code("git agentxchain proposal show "+wire.ShellWord(p.Turn)))
		apply := "git agentxchain proposal apply " + wire.ShellWord(p.Turn) + " --in " + v.Turn.TurnID
		l.field("Apply it", code(apply)+", or one file with "+code("--file PATH"))
		d.block(l.String())
	}
	if n := len(v.Proposals) - maxWaiting; n > 0 {
		d.blockf("%d more: %s", n, code("git agentxchain proposal list"))
	}
}
