// Refs beside those of the runs.

package record

import "github.com/git-agentxchain/git-agentxchain/gitstore/git"

const (
	// SeenRefPrefix is where the newest believed tip of each run on each remote is
	// remembered: below it <remote>/<run>.
	SeenRefPrefix = git.RefSpace + "seen/"
	// AsideRefPrefix is where tips are kept that were refused: below it
	// <remote>/<run>/<operation>.
	AsideRefPrefix = git.RefSpace + "aside/"
)

// ConflictRefPrefix is where conflicts are kept: below it <run>/<losing operation>.
const ConflictRefPrefix = git.RefSpace + "conflicts/"

// LeaseRefPrefix is where lease refs live; it ends in a slash.
const LeaseRefPrefix = "refs/agentxchain/leases/"

// LostRefPrefix is where the tips of dropped operations are kept: below it
// <run>/<operation>.
const LostRefPrefix = git.RefSpace + "lost/"

// SiblingRefPrefix is where the runs of repositories are kept that are only on their server:
// below it <repository>/<run>.
const SiblingRefPrefix = git.RefSpace + "siblings/"

// InitiativeNames is where names of initiatives lie below the prefixes for runs.
const InitiativeNames = "initiatives/"

// WitnessRefPrefix is where statements of witnesses are kept: below it <run>/<key>, a chain
// of commits that each hold one.
const WitnessRefPrefix = git.RefSpace + "witnesses/"

// BeginningRefPrefix keeps the commits at which initiatives began: below it <super run>. Their records name them, and do
// not lead to them. No ref of it says anything: what a record names has to be on a branch here to be believed.
const BeginningRefPrefix = git.RefSpace + "beginnings/"

// InitiativeRefPrefix is where the refs of super runs live; it ends in a slash.
// They are no runs: what reads runs does not meet them.
const InitiativeRefPrefix = "refs/agentxchain/initiatives/"
