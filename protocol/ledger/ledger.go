// What an operation writes into ledgers: appended lines, and lines that replace others.

package ledger

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Append adds whole lines to a ledger.
type Append struct {
	Ledger wire.Ledger
	Data   []byte // ends in \n
}

// Amend replaces one line of a ledger in place, the only rewriting that the protocol knows: a checkpoint adds
// members to a history row, an override marks a repo decision. Neither line ends in \n.
type Amend struct {
	Ledger   wire.Ledger
	Old, New []byte
}
