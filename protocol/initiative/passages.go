// Judges again the gates that an initiative's history says were passed: each by the rules, the signers and the
// question of its time.

package initiative

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Passage is a gate that the history says was passed.
type Passage struct {
	Gate      string
	GateType  string
	Phase, To string // To is "" at the end of the initiative
	At        string
	By        evidence.Actor
	Votes     []*run.Vote // the votes that counted
	Need      int
	Refusal   *wire.Error // why it is invalid, nil where it is valid
}

// Asking is the request of a gate that an approval has to answer.
type Asking struct {
	At  string // when, according to the history
	Nth int    // its number among all requests of the history
	Row int    // the approval's row of the history

	// Since is the newest commit of the protected branch that the request names, or by which an earlier approval
	// was judged; "" for none.
	Since   string
	Request bool // it is the request itself, which answers nothing
}

// Grounds are what a decision is judged by: the files of signers, and the configurations whose rules applied.
type Grounds struct {
	Base    *agreement.Base
	Since   string // commit of the protected branch that they come from, "" where none is protected
	Configs []*Config
	Today   *Config // of the workspace that judges a record from elsewhere; nil for none
}

// rules returns the rules of the way from one phase to another for an approval given under the configuration with
// that digest. The rules of today's configuration keep their threshold. Where it is not the configuration of that
// time, the people named by the other configurations also count for it: one of them may have been replaced since.
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

// Act is what a person did to an initiative other than passing its gates.
type Act struct {
	Decision       string // deny, unblock, abandon
	Gate, GateType string // "" where no gate is decided
	At, Reason     string
	By             evidence.Actor
}

// Acts returns the denials of gates, the ends of blocks and the early end of the initiative, oldest first.
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

// Passed counts the passed gates.
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

// Ground returns what applied to a row; the Yes is nil where the row records no approval. It refuses an approval
// that does not answer its request.
type Ground func(*Yes, Asking) (*Grounds, *wire.Error)

// Passages judges every passed gate again, by the statements that its rows keep. votes are those that count at the
// waiting gate; at is the phase that the rows lead to, "" for the first one.
func (h *History) Passages(superRun string, grounds Ground) (out []Passage, votes []*run.Vote, at string) {
	out, votes, at, _ = h.passages(superRun, grounds)
	return out, votes, at
}

// passages does the work of Passages; asked is the request that the next approval has to answer.
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

// again takes over a further request: an approval after it is judged by no commit of the protected branch older
// than the one known at the request, as long as the branch contains that commit.
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

// AskedBy records in the request of a gate which commit of the protected branch was known at the time.
func (c *Change) AskedBy(b *agreement.Base) {
	if b != nil && b.Ref != "" {
		setBase(c.History[len(c.History)-1], b)
	}
}

// AskedBy returns what the newest request of a gate says of the protected branch, nil for nothing.
func (h *History) AskedBy() *agreement.Base {
	for _, row := range slices.Backward(h.rows) {
		if t := row.String("type"); t == rowPhaseAsked || t == rowFinishAsked {
			return baseOf(row)
		}
	}
	return nil
}

// judge judges the row of a passage in an initiative in phase at, "" for the first one.
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

// again counts the approval of a row as it was counted when it was written; at is the phase that the earlier rows
// lead to.
func (y *Yes) again(superRun string, row *ojson.Object, kind, at, phase, to string, asked *Asking,
	grounds Ground) (sum *agreement.Tally, refusal *wire.Error) {
	g, refusal := grounds(y, *asked)
	if refusal != nil {
		return nil, refusal
	}
	// An approval later counts by its gate, while its rules are found by the requested way: without this check a
	// vote for a stricter gate could be obtained at a laxer one.
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

// agreedBefore returns the tally of the people who agreed before, if each meets the rules, they are enough and
// nothing else was handed in; else nil.
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
