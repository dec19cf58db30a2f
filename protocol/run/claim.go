// TurnClaim: which clone works on a turn, as the run records it (docs/teams.md#claims).

package run

import (
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ClaimMember is the member of an active turn that holds its claim.
const ClaimMember = "claim"

// Codes of a claimed turn.
const (
	CodeTurnClaimed = "turn_claimed" // another clone holds the turn, or held it meanwhile
	CodeClaimEnded  = "claim_ended"  // this clone's own claim has run out
)

// TurnClaim says which clone works on a turn. Number grows each time the turn changes hands, which distinguishes a
// result made under an older claim from one made under the present claim. Clone is "" once the claim was given
// back.
//
// At and Seconds are compared only with the clock of the clone that holds the claim. Any other clone counts Seconds
// from when it first saw the claim, by its own clock: machines whose clocks differ by hours agree on who holds a
// turn.
type TurnClaim struct {
	Number  int    `json:"number"`
	Clone   string `json:"clone"`
	Machine string `json:"machine"`
	Person  string `json:"person"`
	Email   string `json:"email"`
	At      string `json:"claimed_at"`
	Seconds int    `json:"seconds"`
}

// ClaimOf returns the claim of a turn, the zero value for a turn that was never claimed.
func ClaimOf(turn *Turn) TurnClaim {
	var c TurnClaim
	if turn == nil {
		return c
	}
	if o, ok := turn.Extra.Value(ClaimMember).(*ojson.Object); ok {
		_ = ojson.Unmarshal(o, &c) // what another tool wrote there counts as far as it can be read
	}
	return c
}

// Held reports whether a clone holds the claim, even if it has run out.
func (c TurnClaim) Held() bool { return c.Clone != "" }

// Lasts returns the duration of the claim.
func (c TurnClaim) Lasts() time.Duration { return time.Duration(c.Seconds) * time.Second }

// Time returns Lasts as people write it: 30m, 1h30m.
func (c TurnClaim) Time() string {
	s := c.Lasts().String()
	if short, whole := strings.CutSuffix(s, "m0s"); whole {
		s = short + "m"
	}
	if short, whole := strings.CutSuffix(s, "h0m"); whole {
		s = short + "h"
	}
	return s
}

// Ends returns when the claim ends, by the clock of the clone that holds it.
func (c TurnClaim) Ends() time.Time {
	at, err := wire.ParseTime(c.At)
	if err != nil {
		return time.Time{}
	}
	return at.Add(c.Lasts())
}
