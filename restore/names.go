// Names from the store that callers of a restore use.

package restore

import (
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
)

type (
	Store  = gitstore.Store       // of the project to restore into
	Plan   = gitstore.RestorePlan // what a restore does
	Action = incoming.Action      // to one file
)

// How a restored run relates to the existing one.
const (
	Adopts    = gitstore.RestoreAdopts
	Same      = gitstore.RestoreSame
	Continues = gitstore.RestoreContinues
	Joins     = gitstore.RestoreJoins
	Replaces  = gitstore.RestoreReplaces
)
