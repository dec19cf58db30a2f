// Claims as this clone sees them (docs/teams.md#claims).

package claims

import (
	"cmp"
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Hold is the claim of a turn as this clone sees it.
type Hold struct {
	run.TurnClaim
	Here bool      // this clone holds it
	Ends time.Time // by this clone's clock
	Over bool      // its time is up: another clone may take the turn
}

// Who returns the name of the person and the machine.
func (h *Hold) Who() string {
	who := text.Brief(cmp.Or(h.Person, h.Email, "a person"), 60)
	if h.Machine != "" {
		who += " on " + text.Brief(h.Machine, 60)
	}
	return who
}

// Nearby reports a claim of another clone on this machine. A clone that was moved counts as another one.
func (h *Hold) Nearby() bool {
	return !h.Here && h.Machine != "" && h.Machine == git.HostName()
}

// Of returns the claims of the active turns, by turn. s is nil for the files of an artifact.
func Of(s *gitstore.Store, v *gitstore.View, now time.Time) map[string]*Hold {
	if s == nil {
		return nil
	}
	here, since, out := travel.CloneID(s.Repository()), Seen(s, v, now, false), make(map[string]*Hold)
	for id, turn := range v.State.ActiveTurns.All() {
		c := run.ClaimOf(turn)
		if !c.Held() {
			continue
		}
		h := &Hold{TurnClaim: c, Here: c.Clone == here, Ends: c.Ends()}
		if !h.Here {
			h.Ends = since[id].Add(c.Lasts())
		}
		h.Over = !now.Before(h.Ends)
		out[id] = h
	}
	return out
}

// Seen returns when this clone first saw each claim of another clone.
func Seen(s *gitstore.Store, v *gitstore.View, now time.Time, keep bool) map[string]time.Time {
	here, claims := travel.CloneID(s.Repository()), make(map[string]string)
	for id, turn := range v.State.ActiveTurns.All() {
		if c := run.ClaimOf(turn); c.Held() && c.Clone != here {
			claims[id] = fmt.Sprint(c.Number, " ", c.At)
		}
	}
	if len(claims) == 0 && !keep {
		return nil
	}
	return travel.ClaimsSeen(s.Repository(), v.State.Run(), claims, now, keep)
}
