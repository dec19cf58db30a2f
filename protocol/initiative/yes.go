// The yes of people to a gate of an initiative: counted as at the gate of a run, and written into the history, from
// which it can be judged again (docs/coordinator.md#who-may-approve).

package initiative

import (
	"encoding/base64"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Rows of the history about a gate.
const (
	rowVote           = "gate_vote"
	rowDenied         = "gate_denied"
	rowPhaseAsked     = "phase_transition_requested"
	rowPhaseApproved  = "phase_transition_approved"
	rowFinishAsked    = "run_completion_requested"
	rowFinishApproved = "run_completed"
	rowUnblocked      = "blocked_resolved"
)

// Yes is what people said to the gate that waits, and what they were asked.
type Yes struct {
	Consent      agreement.Consent
	Repositories []attest.Repository // where the runs of the gate's repositories stand, by id
	Rules        []*config.GateRule  // all of them have to hold; none leaves it to any person
	Digest       string              // of the configuration in force, see RulesDigest
	Votes        []*run.Vote         // of people who agreed before, as the history proves
}

// RulesOf are the rules of those configurations for the way from one phase to another, "" being the first phase and
// the end; nil is a configuration without any.
func RulesOf(from, to string, list ...*Config) []*config.GateRule {
	var out []*config.GateRule
	for _, c := range list {
		if c != nil {
			out = append(out, c.rulesBetween(from, to)...)
		}
	}
	return out
}

// Fits reports a gate at which an initiative in that phase can wait: a state could name one that asks for fewer people.
func (g *PendingGate) Fits(phase string) bool {
	if g.GateType == GateCompletion {
		return g.To == "" && g.Gate == ShipGate
	}
	return g.From == phase && g.To != "" && g.Gate == phaseGate(phase, g.To)
}

// Question is the decision on the gate that waits, as a person is asked.
func (y *Yes) Question(s *State) *agreement.Decision {
	return y.decision(s.PendingGate.Gate, s.PendingGate.GateType, s.Phase, s.PendingGate.To)
}

// decision is that on a gate out of a phase.
func (y *Yes) decision(gate, kind, phase, to string) *agreement.Decision {
	return &agreement.Decision{
		Kind:         attest.Approve,
		Gate:         gate,
		GateType:     kind,
		Phase:        phase,
		To:           to,
		Rules:        y.Rules,
		Votes:        y.Votes,
		Repositories: y.Repositories,
		Initiative:   true,
	}
}

// Moment is when people decide on a gate of the initiative.
func (y *Yes) Moment(superRun string, who evidence.Actor, now time.Time) *agreement.Moment {
	return &agreement.Moment{Run: superRun, Rules: y.Digest, Actor: who, Now: now}
}

// object is what a row of the history says of it; sum is what it came to.
func (y *Yes) object(phase string, sum *agreement.Tally) *ojson.Object {
	repositories := ojson.NewObject()
	for _, r := range y.Repositories {
		repositories.Set(r.ID, r.Operation)
	}
	statements := make([]string, len(y.Consent.Statements))
	for i, b := range y.Consent.Statements {
		statements[i] = base64.StdEncoding.EncodeToString(b.Data)
	}
	o := ojson.NewObject("phase", phase, "needed", sum.Need, "votes", run.VoteRows(sum.Votes), "answers", y.Consent.Answers,
		"rules", y.Digest, "repositories", repositories, "statements", statements, "alone", y.Consent.Alone)
	setBase(o, y.Consent.Base)
	return o
}

func setBase(o *ojson.Object, b *agreement.Base) {
	if b != nil {
		o.Set("base", ojson.NewObject("ref", b.Ref, "commit", b.Commit))
	}
}

// baseOf reads back what setBase wrote.
func baseOf(o *ojson.Object) *agreement.Base {
	if b := o.Object("base"); b != nil {
		return &agreement.Base{Ref: b.String("ref"), Commit: b.String("commit")}
	}
	return nil
}

// yesOf reads back what object wrote; nil where a row says nothing of it.
func yesOf(row *ojson.Object) (y *Yes, phase string) {
	o := row.Object("approval")
	if o == nil {
		return nil, ""
	}
	y = &Yes{
		Consent: agreement.Consent{Answers: o.String("answers"), Alone: o.Bool("alone")},
		Digest:  o.String("rules"),
	}
	for id, op := range o.Object("repositories").All() {
		text, _ := op.(string)
		y.Repositories = append(y.Repositories, attest.Repository{ID: id, Operation: text})
	}
	for _, text := range o.Strings("statements") {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			data = nil // it is refused as an envelope that cannot be read
		}
		y.Consent.Statements = append(y.Consent.Statements, evidence.NewBlob(data))
	}
	y.Consent.Base = baseOf(o)
	return y, o.String("phase")
}

// actorOf is the person whom a member of a row names.
func actorOf(row *ojson.Object, member string) evidence.Actor {
	by := row.Object(member)
	return evidence.Actor{Name: by.String("name"), Email: by.String("email"), Terminal: by.Bool("terminal")}
}

// person is who decides, for a row.
func person(who evidence.Actor) *ojson.Object {
	return ojson.NewObject("name", ojson.OrNull(who.Name), "email", ojson.OrNull(who.Email), "terminal", who.Terminal)
}

// Counted is what the people come to who agreed before.
func (y *Yes) Counted(s *State) *agreement.Tally {
	return (&agreement.Moment{Rules: y.Digest}).Counted(y.Question(s))
}

// count adds the people who agree now to those who did; nil where any person's word is enough. Where enough people have
// agreed before, on several machines, who passes the gate says nothing of their own.
func (y *Yes) count(s *State, env *protocol.Env) (*agreement.Tally, *wire.Error) {
	if y == nil || len(y.Rules) == 0 && len(y.Consent.Statements) == 0 {
		return nil, nil
	}
	if sum := y.agreedBefore(y.Question(s)); sum != nil {
		y.Consent.Alone = true
		return sum, nil
	}
	return y.Moment(s.SuperRunID, env.Actor, env.Now).Agree(&y.Consent, y.Question(s))
}

// vote records that people agreed, and that more are needed.
func (y *Yes) vote(w *Workspace, sum *agreement.Tally, env *protocol.Env) *Change {
	c := &Change{State: w.State.Clone()}
	g := c.State.PendingGate
	g.Votes, c.State.UpdatedAt = sum.Votes, env.Time()
	c.Record(w, env, rowVote, "gate", g.Gate, "gate_type", g.GateType, "approved_by", person(env.Actor),
		"approval", y.object(w.State.Phase, sum))
	return c
}
