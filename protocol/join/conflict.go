// The record of an operation that did not hold.

package join

import (
	"cmp"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Conflict is the record of an operation that did not hold: who did what, why it does not count, and what became of
// it. Fields unknown to this version survive.
type Conflict struct {
	Run     string   `json:"run_id"`
	Op      string   `json:"op"` // the commit of the losing operation
	Name    string   `json:"operation"`
	Turn    string   `json:"turn_id,omitempty"`
	Role    string   `json:"role,omitempty"`
	Actor   string   `json:"actor"`
	Email   string   `json:"email"`
	At      string   `json:"at"`
	Onto    string   `json:"onto"` // the other side's operation after which it was decided
	Reason  string   `json:"reason"`
	Code    string   `json:"code,omitempty"`
	Message string   `json:"message"`
	Ways    []string `json:"ways"`
	Status  string   `json:"status"`            // open, settled
	Settled string   `json:"settled,omitempty"` // how: drop, reissue, again, ours, same
	Because string   `json:"because,omitempty"`
	By      string   `json:"by,omitempty"`
	Extra   ojson.Extra
}

// Words of Conflict.Status.
const (
	ConflictOpen    = "open"
	ConflictSettled = "settled"
)

// SortConflicts sorts open conflicts first, then by time and operation.
func SortConflicts(list []*Conflict) {
	slices.SortFunc(list, func(a, b *Conflict) int {
		if a.Status != b.Status {
			if a.Status == ConflictOpen {
				return -1
			}
			if b.Status == ConflictOpen {
				return 1
			}
		}
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Op, b.Op))
	})
}
