// People's approvals of an initiative's gate: counted as at the gate of a run, and written into the history, so
// that they can be judged again (docs/coordinator.md#who-may-approve).

package initiative

import (
	"encoding/base64"
	"slices"
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

// Yes is what people said about the waiting gate, and what they were asked.
type Yes struct {
	Consent      agreement.Consent
	Repositories []attest.Repository // state of the runs of the gate's repositories, by id
	Rules        []*config.GateRule  // all of them must hold; without any, any person may approve
	Digest       string              // of the configuration in force, see RulesDigest
	Votes        []*run.Vote         // of people who agreed before, as the history proves
}

// RulesOf returns the rules of the configurations for the way from one phase to another; "" means the first phase
// or the end. A nil configuration has none.
func RulesOf(from, to string, list ...*Config) []*config.GateRule {
	var out []*config.GateRule
	for _, c := range list {
		if c != nil {
			out = append(out, c.rulesBetween(from, to)...)
		}
	}
	return out
}

// Fits reports whether an initiative in that phase can wait at the gate: a state could name a gate that asks for
// fewer people.
func (g *PendingGate) Fits(phase string) bool {
	if g.GateType == GateCompletion {
		return g.To == "" && g.Gate == ShipGate
	}
	return g.From == phase && g.To != "" && g.Gate == phaseGate(phase, g.To)
}

// Question returns the decision on the waiting gate, as a person is asked for it.
func (y *Yes) Question(s *State) *agreement.Decision {
	return y.decision(s.PendingGate.Gate, s.PendingGate.GateType, s.Phase, s.PendingGate.To)
}

// decision returns the decision on a gate out of a phase.
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

// Moment returns the moment at which people decide on a gate of the initiative.
func (y *Yes) Moment(superRun string, who evidence.Actor, now time.Time) *agreement.Moment {
	return &agreement.Moment{Run: superRun, Rules: y.Digest, Actor: who, Now: now}
}

// object returns the approval for a row of the history; sum is its tally.
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

// yesOf reads back what object wrote; nil where a row has no approval.
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
			data = nil // refused as an unreadable envelope
		}
		y.Consent.Statements = append(y.Consent.Statements, evidence.NewBlob(data))
	}
	y.Consent.Base = baseOf(o)
	return y, o.String("phase")
}

// actorOf returns the person named by a member of a row.
func actorOf(row *ojson.Object, member string) evidence.Actor {
	by := row.Object(member)
	return evidence.Actor{Name: by.String("name"), Email: by.String("email"), Terminal: by.Bool("terminal")}
}

// person returns who decides, for a row.
func person(who evidence.Actor) *ojson.Object {
	return ojson.NewObject("name", ojson.OrNull(who.Name), "email", ojson.OrNull(who.Email), "terminal", who.Terminal)
}

// Counted returns the tally of the people who agreed before.
func (y *Yes) Counted(s *State) *agreement.Tally {
	return (&agreement.Moment{Rules: y.Digest}).Counted(y.Question(s))
}

// Lapsed divides the approvals of the waiting gate into those that count and those that would be refused now.
func (y *Yes) Lapsed(s *State, h *History) (counting []*run.Vote, lapsed []agreement.Lapse) {
	return agreement.Lapsed(y.Consent.Base, y.Question(s), y.Counted(s).Votes, h.statement)
}

// statement returns the statement by which an approval was given, nil if no row keeps it.
func (h *History) statement(v *run.Vote) []byte {
	for _, row := range slices.Backward(h.rows) {
		y, _ := yesOf(row)
		if y == nil {
			continue
		}
		for _, b := range y.Consent.Statements {
			if "sha256:"+b.Digest == v.Statement {
				return b.Data
			}
		}
	}
	return nil
}

// count adds the people who agree now to those who agreed before; nil where any person may approve. Where enough
// people agreed before, on several machines, the person who passes the gate adds nothing of their own.
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
