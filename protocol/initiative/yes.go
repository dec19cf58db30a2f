// The yes of people to a gate of an initiative: counted as at the gate of a run, and written into the history, from
// which it can be judged again (docs/coordinator.md#who-may-approve).

package initiative

import (
	"cmp"
	"encoding/base64"
	"fmt"
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

// Passage is a gate that the history says was passed.
type Passage struct {
	Gate      string
	GateType  string
	Phase, To string // To is "" at the end of the initiative
	At        string
	By        evidence.Actor
	Votes     []*run.Vote // that counted
	Need      int
	Refusal   *wire.Error // why it does not hold, nil where it does
}

// Asking is what a yes has to answer: that a gate was requested.
type Asking struct {
	At  string // when, as the history says
	Nth int    // of all requests of the history
	Row int    // of the history, of the yes

	// Since is the newest commit of the protected branch that its request names, or by which a yes before was judged; ""
	// for none.
	Since   string
	Request bool // it is the request itself, which answers nothing
}

// Grounds are what a decision is judged by: the files of signers, and the configurations whose rules applied.
type Grounds struct {
	Base    *agreement.Base
	Since   string // commit of the protected branch that this is of, "" where none is protected
	Configs []*Config
	Today   *Config // of the workspace that judges a record from elsewhere, nil for none
}

// rules are those of the way from one phase to another for a yes that was given under the configuration with that
// digest. Today's file asks for as much as ever. Where it is not the one of that time, the people count for it too whom
// the others name: one of them may have been replaced since.
func (g *Grounds) rules(from, to, digest string) []*config.GateRule {
	out := RulesOf(from, to, g.Configs...)
	then := out
	for _, r := range RulesOf(from, to, g.Today) {
		if digest != g.Today.RulesDigest() {
			wider := *r
			for _, t := range then {
				wider.Principals = append(slices.Clone(wider.Principals), agreement.Others(t.Principals, wider.Principals)...)
			}
			r = &wider
		}
		out = append(slices.Clip(out), r)
	}
	return out
}

// Act is what a person did to an initiative beside passing its gates.
type Act struct {
	Decision       string // deny, unblock, abandon
	Gate, GateType string // "" where no gate is decided
	At, Reason     string
	By             evidence.Actor
}

// Acts are the denials of gates, the ends of blocks and the early end of the initiative, oldest first.
func (h *History) Acts() []Act {
	var out []Act
	for _, row := range h.rows {
		a := Act{At: row.String("timestamp"), Reason: row.String("reason")}
		switch row.String("type") {
		case rowDenied:
			a.Decision, a.Gate, a.GateType = "deny", row.String("gate"), row.String("gate_type")
			a.By = actorOf(row, "denied_by")
		case rowUnblocked:
			a.Decision, a.Reason, a.By = "unblock", row.String("blocked_reason"), actorOf(row, "unblocked_by")
		case rowAbandoned:
			a.Decision, a.By = "abandon", actorOf(row, "abandoned_by")
		default:
			continue
		}
		out = append(out, a)
	}
	return out
}

// Passed counts the gates that were passed.
func (h *History) Passed() int { return h.count(rowPhaseApproved, rowFinishApproved) }

// Requests counts how often a gate was requested.
func (h *History) Requests() int { return h.count(rowPhaseAsked, rowFinishAsked) }

// count counts the rows of two kinds.
func (h *History) count(one, other string) int {
	n := 0
	for _, row := range h.rows {
		if t := row.String("type"); t == one || t == other {
			n++
		}
	}
	return n
}

// Ground says what applied to a row, whose Yes is nil where it says nothing of that. It refuses one that does not answer
// its request.
type Ground func(*Yes, Asking) (*Grounds, *wire.Error)

// Passages judges again every gate that was passed, by the statements that its rows keep. votes are those that count at
// the gate that waits, at the phase that the rows lead to, "" for the first one.
func (h *History) Passages(superRun string, grounds Ground) (out []Passage, votes []*run.Vote, at string) {
	out, votes, at, _ = h.passages(superRun, grounds)
	return out, votes, at
}

// passages is Passages; asked is what a yes has to answer that follows.
func (h *History) passages(superRun string, grounds Ground) (out []Passage, votes []*run.Vote, at string, asked Asking) {
	kind, to := "", ""
	for i, row := range h.rows {
		asked.Row = i
		switch row.String("type") {
		case rowPhaseAsked:
			asked.At, kind, to, votes = row.String("timestamp"), GatePhase, row.String("to"), nil
			asked.again(row, grounds)
		case rowFinishAsked:
			asked.At, kind, to, votes = row.String("timestamp"), GateCompletion, "", nil
			asked.again(row, grounds)
		case rowDenied, rowAbandoned:
			votes = nil
		case rowVote:
			if y, phase := yesOf(row); y != nil {
				y.Votes = votes
				if sum, refusal := y.again(superRun, row, kind, at, phase, to, &asked, grounds); refusal == nil {
					votes = sum.Votes
				}
			}
		case rowPhaseApproved, rowFinishApproved:
			p := Passage{
				Gate:     row.String("gate"),
				GateType: GateCompletion,
				Phase:    row.String("from"),
				At:       row.String("timestamp"),
				By:       actorOf(row, "approved_by"),
			}
			if row.String("type") == rowPhaseApproved {
				p.GateType, p.To = GatePhase, row.String("to")
			}
			p.judge(superRun, row, at, votes, &asked, grounds)
			if out, votes = append(out, p), nil; p.To != "" {
				at = p.To
			}
		}
	}
	asked.Row = len(h.rows)
	return out, votes, at, asked
}

// again takes over what a further request says: a yes to it is judged by no commit of the protected branch before the one
// that was known with it, as long as the branch has that.
func (a *Asking) again(row *ojson.Object, grounds Ground) {
	a.Nth++
	b := baseOf(row)
	if b == nil || b.Ref == "" {
		return
	}
	g, refusal := grounds(&Yes{Consent: agreement.Consent{Base: b}}, Asking{Since: a.Since, Request: true})
	if refusal == nil {
		a.Since = cmp.Or(g.Since, a.Since)
	}
}

// AskedBy says in the request of a gate which commit of the protected branch was known with it.
func (c *Change) AskedBy(b *agreement.Base) {
	if b != nil && b.Ref != "" {
		setBase(c.History[len(c.History)-1], b)
	}
}

// AskedBy is what the newest request of a gate says of the protected branch, nil for nothing.
func (h *History) AskedBy() *agreement.Base {
	for _, row := range slices.Backward(h.rows) {
		if t := row.String("type"); t == rowPhaseAsked || t == rowFinishAsked {
			return baseOf(row)
		}
	}
	return nil
}

// judge judges the row of a passage in an initiative that is in phase at, "" for the first one.
func (p *Passage) judge(superRun string, row *ojson.Object, at string, votes []*run.Vote, asked *Asking,
	grounds Ground) {
	y, phase := yesOf(row)
	if y == nil {
		g, refusal := grounds(nil, *asked)
		if refusal != nil {
			p.Refusal = refusal
		} else if rules := g.rules(at, p.To, ""); len(rules) > 0 {
			p.Need = rules[0].Threshold
			p.Refusal = &wire.Error{
				Code:    wire.CodeApprovalsMissing,
				Message: fmt.Sprintf("its row names none of the people whom it needs: %s", rules[0].People()),
			}
		}
		return
	}
	if p.GateType == GatePhase && p.Phase != phase {
		p.Refusal = aboutAnother(p.Gate, p.Phase, phase)
		return
	}
	p.Phase, y.Votes = phase, votes
	sum, refusal := y.again(superRun, row, p.GateType, at, phase, p.To, asked, grounds)
	if p.Refusal = refusal; refusal != nil {
		return
	}
	p.Votes, p.Need = sum.Votes, sum.Need
	if !sum.Reached() {
		p.Refusal = &wire.Error{
			Code:    wire.CodeApprovalsMissing,
			Message: fmt.Sprintf("%d of %d people approved it", len(sum.Votes), sum.Need),
		}
	}
}

// again counts the yes of a row as it was counted when it was written; at is the phase that the rows before it lead to.
func (y *Yes) again(superRun string, row *ojson.Object, kind, at, phase, to string, asked *Asking,
	grounds Ground) (sum *agreement.Tally, refusal *wire.Error) {
	g, refusal := grounds(y, *asked)
	if refusal != nil {
		return nil, refusal
	}
	// By its gate it counts later on, by the way that was asked for the rules are found: a vote for a gate that asks for
	// more could be had at one that asks for less.
	gate := row.String("gate")
	if at != "" && phase != at || gate != gateOf(phase, to) {
		return nil, aboutAnother(gate, at, phase)
	}
	defer func() {
		if refusal == nil {
			asked.Since = cmp.Or(g.Since, asked.Since)
		}
	}()
	now, err := wire.ParseTime(row.String("timestamp"))
	if err != nil {
		return nil, &wire.Error{Code: wire.CodeInvalidState, Message: "its row has no time that can be read"}
	}
	y.Consent.Base, y.Rules = g.Base, g.rules(at, to, y.Digest)
	d := y.decision(gate, kind, phase, to)
	if sum := y.agreedBefore(d); y.Consent.Alone && sum != nil {
		return sum, nil
	}
	return y.Moment(superRun, actorOf(row, "approved_by"), now).Agree(&y.Consent, d)
}

func aboutAnother(gate, phase, approved string) *wire.Error {
	return &wire.Error{
		Code: agreement.CodeStatementMismatch,
		Message: fmt.Sprintf("its row is about gate %s of phase %s, and its approval about phase %s", gate, phase,
			approved),
	}
}

// agreedBefore is what people came to who agreed before, each as the rules want it, where nothing else was handed in and
// they are enough; else nil.
func (y *Yes) agreedBefore(d *agreement.Decision) *agreement.Tally {
	sum := (&agreement.Moment{Rules: y.Digest}).Counted(d)
	if len(y.Consent.Statements) > 0 || !sum.Reached() {
		return nil
	}
	for _, v := range sum.Votes {
		if agreement.Admit(&y.Consent, d, v) != nil {
			return nil
		}
	}
	return sum
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

// Joined is what votes of another machine come to.
type Joined struct {
	Change *Change     // nothing where none was added
	Votes  []*run.Vote // those added
	Over   int         // rows that answer what waits no more: it was decided on, or requested again
}

// Join adds the votes of rows that another machine recorded to the gate that waits after h, in state s: those that count
// there beside the others. One of a person who has agreed already adds nothing. It is nil where one of them may or may
// not count, because it is about other operations, or was judged by what is not here.
func (h *History) Join(s *State, rows []*ojson.Object, superRun string, grounds Ground) *Joined {
	_, votes, at, asked := h.passages(superRun, grounds)
	out := &Joined{Change: &Change{}}
	if s.PendingGate == nil {
		out.Over = len(rows)
		return out
	}
	for _, row := range rows {
		y, phase := yesOf(row)
		if y == nil {
			return nil
		}
		y.Votes = votes
		sum, refusal := y.again(superRun, row, s.PendingGate.GateType, at, phase, s.PendingGate.To, &asked, grounds)
		switch {
		case refusal != nil && refusal.Code == agreement.CodeAlreadyApproved:
			continue
		case refusal != nil && refusal.Code == agreement.CodeStatementReplayed:
			out.Over++
			continue
		case refusal != nil || len(sum.Dropped) > 0:
			return nil
		}
		row = ojson.CloneValue(row).(*ojson.Object)
		row.Object("approval").Set("votes", run.VoteRows(sum.Votes))
		out.Change.History = append(out.Change.History, row)
		out.Votes, votes = append(out.Votes, sum.Votes[len(votes):]...), sum.Votes
	}
	if len(out.Votes) > 0 {
		out.Change.State = s.Clone()
		out.Change.State.PendingGate.Votes = votes
	}
	return out
}

// Repeatable judges rows that one machine recorded on top of what others have: ok where any clone records them again by
// itself, or people do no more in them than agree to the gate that waited before. votes are the rows of those, asked
// counts requests of a gate. A yes to a gate that was requested in these rows is not ok: it answers that request alone.
func Repeatable(rows []*ojson.Object) (votes []*ojson.Object, asked int, ok bool) {
	for _, row := range rows {
		switch row.String("type") {
		case rowVote:
			votes = append(votes, row)
		case rowPhaseAsked, rowFinishAsked:
			asked++
		case rowProjection, RowResynced:
		default:
			return nil, 0, false
		}
	}
	return votes, asked, len(votes) == 0 || asked == 0
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
