// The charters of a plan, for status.

package look

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// charterTally counts the charters of a run by state and keeps the interesting ones: those being
// worked on and the ready ones of the present phase, in order.
type charterTally struct {
	total, completed, active, ready, pending int
	open                                     []*run.Charter
}

func tallyCharters(s *run.State) charterTally {
	n := charterTally{total: len(s.CharterQueue)}
	for _, c := range s.CharterQueue {
		switch s.CharterState(c) {
		case run.CharterCompleted:
			n.completed++
		case run.CharterActive:
			n.active++
		case run.CharterReady:
			if c.Phase == s.Phase {
				n.ready++
				continue
			}
			fallthrough
		default:
			n.pending++
		}
	}
	n.open = s.OpenCharters()
	return n
}

// object returns the charters member of status --json; nil for a run without any. The whole queue
// is in state.charter_queue.
func (n charterTally) object(s *run.State) *ojson.Object {
	if n.total == 0 {
		return nil
	}
	open := []*ojson.Object{}
	for _, c := range n.open {
		o := ojson.NewObject("charter_id", c.CharterID, "plan_id", c.PlanID, "role", c.Role,
			"status", s.CharterState(c), "charter", c.Charter, "turn_id", nil)
		if t := s.CharterTurn(c.CharterID); t != nil {
			o.Set("turn_id", t.TurnID)
		}
		open = append(open, o)
	}
	return ojson.NewObject("total", n.total, "completed", n.completed, "active", n.active, "ready", n.ready,
		"pending", n.pending, "open_in_phase", open)
}

const shownCharters = 4 // of the present phase; the rest are counted

func (n charterTally) print(p *term.Printer, s *run.State) {
	if n.total == 0 {
		return
	}
	text := fmt.Sprintf("%d of %d done", n.completed, n.total)
	if n.active > 0 {
		text += fmt.Sprintf(", %d at work", n.active)
	}
	if n.ready > 0 {
		text += fmt.Sprintf(", %d ready", n.ready)
	}
	p.Field("Charters", "%s", text)
	if s.Status == wire.StatusCompleted || s.Status == wire.StatusFailed {
		return
	}
	for i, c := range n.open {
		if i == shownCharters {
			p.Printf("%s - and %d more in phase %s\n", term.Pad("", 14), len(n.open)-i, term.OneLine(s.Phase))
			return
		}
		p.Printf("%s - %s (%s), %s: %s\n", term.Pad("", 14), term.OneLine(c.CharterID), term.OneLine(c.Role),
			s.CharterState(c), term.OneLine(c.Charter))
	}
}
