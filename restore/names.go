// Names of the store that a restore uses.

package restore

import (
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
)

type (
	Store  = gitstore.Store       // of the project a run is restored into
	Plan   = gitstore.RestorePlan // what a restore does
	Action = incoming.Action      // to one file
)

// How a restored run relates to what is there.
const (
	Adopts    = gitstore.RestoreAdopts
	Same      = gitstore.RestoreSame
	Continues = gitstore.RestoreContinues
	Replaces  = gitstore.RestoreReplaces
)
