// Refs other than those of the runs.

package record

import "github.com/git-agentxchain/git-agentxchain/gitstore/git"

const (
	// SeenRefPrefix is the prefix of the newest verified tip of each run on each remote; <remote>/<run> follows.
	SeenRefPrefix = git.RefSpace + "seen/"
	// AsideRefPrefix is the prefix of refused tips; <remote>/<run>/<operation> follows.
	AsideRefPrefix = git.RefSpace + "aside/"
)

// ConflictRefPrefix is the prefix of conflicts; <run>/<losing operation> follows.
const ConflictRefPrefix = git.RefSpace + "conflicts/"

// LeaseRefPrefix is the prefix of lease refs; it ends in a slash.
const LeaseRefPrefix = "refs/agentxchain/leases/"

// LostRefPrefix is the prefix of the tips of dropped operations; <run>/<operation> follows.
const LostRefPrefix = git.RefSpace + "lost/"

// SiblingRefPrefix is the prefix of the runs of repositories that exist only on their server; <repository>/<run>
// follows.
const SiblingRefPrefix = git.RefSpace + "siblings/"

// InitiativeNames precedes the names of initiatives below the prefixes for runs.
const InitiativeNames = "initiatives/"

// WitnessRefPrefix is the prefix of witness statements; <run>/<key> follows, a chain of commits with one statement
// each.
const WitnessRefPrefix = git.RefSpace + "witnesses/"

// BeginningRefPrefix is the prefix of the commits at which initiatives began; <super run> follows. Their records
// name these commits, but do not reach them. These refs prove nothing: what a record names must be on a branch here
// to be believed.
const BeginningRefPrefix = git.RefSpace + "beginnings/"

// InitiativeRefPrefix is the prefix of the refs of super runs; it ends in a slash. Super runs are not runs: readers
// of runs do not see them.
const InitiativeRefPrefix = "refs/agentxchain/initiatives/"
