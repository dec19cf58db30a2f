// How the gate that waits stands to the people who are asked (docs/coordinator.md#who-may-approve).

package coordinator

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// GateStanding is who is asked at the gate that waits, and who has agreed.
type GateStanding struct {
	*initiative.Yes

	Counting []*run.Vote // for the repositories and the configuration of now
	Dropped  []*run.Vote // that were given for something else
	Need     int
	Missing  []string // people whose yes would count
	Signed   bool     // only signed statements count
}

// people fills in how the gate that waits stands, and whether those before it hold.
func (c *Coordinator) people(ctx context.Context, s *Standing) error {
	a, err := c.judgingHere(ctx, s.State)
	if err == nil {
		err = a.unapproved(ctx, s.History, 0)
	}
	if s.Unapproved = refusalOf(err); err != nil && s.Unapproved == nil {
		return err
	}
	if s.State.PendingGate == nil || s.Unapproved != nil {
		return nil
	}
	if s.Gate, err = c.standingAt(ctx, a, s.Seen); err != nil || s.Gate == nil {
		return err
	}
	s.Gate.tell(s.Next)
	return nil
}

// tell says beside what is to be done at the gate how people say yes, and whose yes is waited for.
func (g *GateStanding) tell(next []initiative.Action) {
	for i := range next {
		a := &next[i]
		if a.Code != initiative.NextGate {
			continue
		}
		if g.Signed {
			a.Command += " --sign"
		}
		if len(g.Missing) > 0 {
			a.Reason += fmt.Sprintf(" It has %d of %d approvals, and waits for %s.", len(g.Counting), g.Need,
				wire.ListSome(g.Missing, 5))
		}
	}
}

func (c *Coordinator) gateStanding(ctx context.Context, s *Seen) (*GateStanding, error) {
	a, err := c.judgingHere(ctx, s.State)
	if err != nil {
		return nil, err
	}
	return c.standingAt(ctx, a, s)
}

func (c *Coordinator) standingAt(ctx context.Context, a *approvals, s *Seen) (*GateStanding, error) {
	y, err := c.asking(ctx, a, s, false)
	if err != nil || y == nil {
		return nil, err
	}
	out := &GateStanding{Yes: y, Need: 1}
	d := y.Question(s.State)
	content := (&agreement.Moment{Rules: y.Digest}).Content(d)
	for _, v := range d.Votes {
		if v.Content == content {
			out.Counting = append(out.Counting, v)
		} else {
			out.Dropped = append(out.Dropped, v)
		}
	}
	for i, r := range y.Rules {
		out.Need, out.Signed = max(out.Need, r.Threshold), out.Signed || r.Signed
		unheard := agreement.Unheard(r, out.Counting)
		if i == 0 {
			out.Missing = unheard
			continue
		}
		// Each rule has to hold, so that a person counts whom all of them name.
		out.Missing = agreement.Others(out.Missing, agreement.Others(out.Missing, unheard))
	}
	return out, nil
}

// People are who is asked and who has agreed, each a label and a text; none where any person may pass the gate.
func (g *GateStanding) People() (facts [][2]string) {
	if g == nil {
		return nil
	}
	number := fmt.Sprintf("%d of %d", len(g.Counting), g.Need)
	if g.Signed {
		number += ", signed"
	}
	facts = append(facts, [2]string{"Approvals", number})
	for _, v := range g.Counting {
		facts = append(facts, [2]string{"Approved by", v.Who()})
	}
	for _, v := range g.Dropped {
		facts = append(facts, [2]string{"No longer counts", v.Who() + ", for what has changed since"})
	}
	if len(g.Missing) > 0 {
		facts = append(facts, [2]string{"Waits for", wire.ListSome(g.Missing, 5)})
	}
	return facts
}

// Value is the standing for --json, null where any person may pass the gate.
func (g *GateStanding) Value() any {
	if g == nil {
		return nil
	}
	repositories := make([]*ojson.Object, len(g.Repositories))
	for i, r := range g.Repositories {
		repositories[i] = ojson.NewObject("repo_id", r.ID, "operation", r.Operation)
	}
	return ojson.NewObject("needed", g.Need, "votes", run.VoteRows(g.Counting), "dropped", len(g.Dropped), "waits_for",
		append([]string{}, g.Missing...), "signed", g.Signed, "answers", ojson.OrNull(g.Consent.Answers),
		"rules", g.Digest, "repositories", repositories)
}
