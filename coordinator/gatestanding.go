// The approvals of the gate that waits (docs/coordinator.md#who-may-approve).

package coordinator

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// GateStanding says who must approve the gate that waits, and who has agreed.
type GateStanding struct {
	*initiative.Yes

	Counting []*run.Vote       // for the current repositories and configuration
	Dropped  []*run.Vote       // given for something else
	Lapsed   []agreement.Lapse // that would be refused now
	Need     int
	Missing  []string // people whose yes would count
	Signed   bool     // only signed statements count
}

// people fills in the approvals of the gate that waits, and whether earlier approvals are valid.
func (c *Coordinator) people(ctx context.Context, s *Standing) error {
	a, err := c.judgingHere(ctx, s.State)
	if err == nil {
		err = a.unapproved(ctx, s.History, 0)
	}
	if err == nil {
		err = c.unrecordable(ctx, s.Documents)
	}
	if err == nil && s.State.PendingGate != nil {
		s.Changed = a.changed(ctx, s.Config)
		s.Gate, err = c.standingAt(ctx, a, s.Seen)
	}
	if s.Unapproved = refusalOf(err); s.Unapproved != nil {
		s.Next = nil // each would be refused, or be about what does not hold
		return nil   // and the rest is shown
	}
	if err == nil && s.Gate != nil {
		s.Gate.explain(s.Next, c.env(ctx).Actor.Email)
	}
	return err
}

// explain adds to the next actions at the gate how people approve, and whose approval is missing; asker is told to
// approve if theirs is.
func (g *GateStanding) explain(next []initiative.Action, asker string) {
	for i := range next {
		a := &next[i]
		if a.Code != initiative.NextGate {
			continue
		}
		counts := func(v *run.Vote) bool { return agreement.SamePerson(v.Principal, asker) }
		switch {
		case len(g.Lapsed) > 0:
			a.Command += " --deny --reason TEXT"
			a.Reason = g.Lapsed[0].Why.Message + " The next step requests the gate again."
			continue
		case len(g.Counting) >= g.Need: // given on two machines, and joined by a sync
			a.Reason += fmt.Sprintf(" It has %d of %d approvals, and is passed with this.", len(g.Counting), g.Need)
		case slices.ContainsFunc(g.Counting, counts):
			a.Command, a.Reason = a.Command+" --show", a.Reason+" You have agreed."
		case g.Signed:
			a.Command += " --sign"
		}
		if len(g.Counting)+len(g.Missing) < g.Need {
			a.Reason += fmt.Sprintf(" It has %d of %d approvals, and too few people are left whose yes would count: name those who left "+
				"in %s again, or end the initiative with %s multi abandon --reason TEXT.", len(g.Counting), g.Need,
				initiative.ConfigFile, Program)
		} else if len(g.Missing) > 0 {
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
	sum := y.Counted(s.State)
	out := &GateStanding{Yes: y, Dropped: sum.Dropped, Need: sum.Need}
	out.Counting, out.Lapsed = y.Lapsed(s.State, s.History)
	for i, r := range y.Rules {
		out.Signed = out.Signed || r.Signed
		unheard := agreement.Unheard(r, sum.Votes)
		if i == 0 {
			out.Missing = unheard
			continue
		}
		// Every rule must be satisfied, so a person counts only if all of them name them.
		out.Missing = agreement.Others(out.Missing, agreement.Others(out.Missing, unheard))
	}
	if sum.Reached() {
		out.Missing = nil
	}
	return out, nil
}

// People returns who must approve and who has agreed, each a label and a text; none if any person may pass the
// gate.
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
	for _, l := range g.Lapsed {
		facts = append(facts, [2]string{"No longer counts", l.Vote.Who() + ": " + l.Why.Message})
	}
	if len(g.Missing) > 0 {
		facts = append(facts, [2]string{"Waits for", wire.ListSome(g.Missing, 5)})
	}
	return facts
}

// Facts returns what a person is told of the waiting gate, each a label and a text: who must approve and who has, and
// whether the rules have changed since the beginning.
func (s *Standing) Facts() [][2]string {
	facts := s.Gate.People()
	if len(s.Changed) > 0 {
		facts = append(facts, [2]string{"Configuration", "changed since the initiative began: " + wire.ListSome(s.Changed, 5)})
	}
	return facts
}

// Value returns the standing for --json, null if any person may pass the gate.
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
		"rules", g.Digest, "repositories", repositories, "lapsed", agreement.LapseRows(g.Lapsed))
}
