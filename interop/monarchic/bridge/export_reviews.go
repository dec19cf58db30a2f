// Reviews and reruns: approvals, rejections, objections, and what was repeated because of them
// (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

const noReason = "no reason recorded"

// decided collects decisions and counts them by subject.
type decided struct {
	x    *Export
	seen map[string]int
	list []*strict.ReviewDecision
}

// id returns review-<gate or turn>-<n>, n counting from 1.
func (d *decided) id(about string) string {
	d.seen[about]++
	return "review-" + about + "-" + itoa(d.seen[about])
}

func (d *decided) add(about string, scope strict.ReviewDecisionScope, actor string, what strict.ReviewDisposition,
	reason, at string) *strict.ReviewDecision {
	r := &strict.ReviewDecision{
		DecisionID: d.id(about),
		PlanID:     planID(d.x.Run),
		Scope:      scope,
		Actor:      actor,
		Decision:   what,
		Reason:     cmp.Or(reason, noReason),
		CreatedAt:  d.x.ms(at),
	}
	d.list = append(d.list, r)
	return r
}

func (x *Export) reviews(bool) ([]Object, error) {
	decisions, _ := x.judged()
	return decisions, nil
}

func (x *Export) reruns(bool) ([]Object, error) {
	_, reruns := x.judged()
	return reruns, nil
}

// judged follows the log for decisions and repeated work.
func (x *Export) judged() (decisions, reruns []Object) {
	d := &decided{x: x, seen: make(map[string]int)}
	x.approvals(d)
	scopes := x.again(d)
	for _, o := range x.openObjections() {
		what := strict.DecisionDefer
		if s := o.severity; s == "high" || s == "blocking" {
			what = strict.DecisionRequestChanges
		}
		d.add(o.turn, strict.ReviewStep, cmp.Or(o.role, run.Human), what, o.statement, o.at)
	}
	slices.SortStableFunc(d.list, func(a, b *strict.ReviewDecision) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	for _, r := range d.list {
		decisions = append(decisions, object("client_boundary/review_decision", r))
	}
	for _, s := range scopes {
		reruns = append(reruns, object("client_boundary/rerun_scope", s))
	}
	return decisions, reruns
}

// approvals adds those that people gave and those that an approval policy gave for them.
func (x *Export) approvals(d *decided) {
	people := make(map[string][]*ojson.Object) // by gate
	for _, row := range x.facts.decisions {
		gate := cmp.Or(row.String("gate_id"), noGate)
		switch row.String("type") {
		case "human_approval":
			people[gate] = append(people[gate], row)
		case "approval_policy":
			d.add(gate, gateScope(row.String("gate_type")), "approval_policy", strict.DecisionApprove,
				row.String("reason"), row.String("timestamp"))
		}
	}
	for _, l := range x.facts.events {
		if l.Row.String("event_type") != run.EventGateApproved {
			continue
		}
		p := l.Row.Object("payload")
		gate, actor, reason := cmp.Or(p.String("gate_id"), noGate), run.Human, ""
		if rows := people[gate]; len(rows) > 0 {
			by := rows[0].Object("approved_by")
			actor, reason = cmp.Or(by.String("name"), by.String("email"), run.Human), rows[0].String("reason")
			people[gate] = rows[1:]
		}
		d.add(gate, gateScope(p.String("gate_type")), actor, strict.DecisionApprove, reason, l.Row.String("timestamp"))
	}
}

func gateScope(kind string) strict.ReviewDecisionScope {
	if kind == gateTypeCompletion {
		return strict.ReviewRelease
	}
	return strict.ReviewPlan
}

// again adds the rejections, and returns what had to be repeated.
func (x *Export) again(d *decided) []*strict.RerunScope {
	var out []*strict.RerunScope
	actors := make(map[string][]string)
	maps.Copy(actors, x.facts.rejected)
	attempts := make(map[string]int)
	scope := func(row *ojson.Object, turn string, attempt int, trigger strict.RerunTrigger, reason string,
		source *string) {
		p := row.Object("payload")
		paths := or2(p.Strings("conflicting_files"), p.Object("conflict_context").Strings("conflicting_files"),
			x.conflictFiles(turn))
		out = append(out, &strict.RerunScope{
			ScopeID:          "rerun-" + turn + "-" + itoa(attempt),
			PlanID:           planID(x.Run),
			Trigger:          trigger,
			Reason:           cmp.Or(reason, noReason),
			SourceDecisionID: source,
			TaskIDs:          []string{turn},
			StepIDs:          []string{turn},
			Paths:            paths,
			CreatedAt:        x.ms(row.String("timestamp")),
		})
	}
	for _, l := range x.facts.events {
		row, p := l.Row, l.Row.Object("payload")
		turn := row.Object("turn").String("turn_id")
		switch row.String("event_type") {
		case run.EventTurnRejected:
			attempts[turn]++
			n := attempts[turn]
			if a, ok := p.Int("attempt"); ok && a > 0 {
				n = a
			}
			actor := run.Human
			if list := actors[turn]; len(list) > 0 {
				actor, actors[turn] = cmp.Or(list[0], run.Human), list[1:]
			}
			what := strict.DecisionReject
			if p.Bool("retrying") {
				what = strict.DecisionRequestChanges
			}
			r := d.add(turn, strict.ReviewStep, actor, what, p.String("reason"), row.String("timestamp"))
			if p.Bool("retrying") {
				scope(row, turn, n, strict.TriggerReviewDecision, p.String("reason"), &r.DecisionID)
			}
		case run.EventTurnReissued:
			attempts[turn]++ // of the new turn; the old one is repeated
			if old := p.String("old_turn_id"); old != "" {
				scope(row, old, x.attempt(old), strict.TriggerManual, p.String("reason"), nil)
			}
		}
	}
	return out
}

// conflictFiles returns the files that a turn was in conflict over when it was sent back.
func (x *Export) conflictFiles(turn string) []string {
	for _, row := range slices.Backward(x.facts.decisions) {
		if row.String("turn_id") == turn && row.String("decision") == "conflict_rejected" {
			return row.Object("conflict").Strings("conflicting_files")
		}
	}
	return nil
}

func or2(lists ...[]string) []string {
	for _, l := range lists {
		if len(l) > 0 {
			return l
		}
	}
	return []string{}
}

// objection is one without an answer.
type objection struct{ turn, role, id, severity, statement, at string }

// openObjections returns the standing objections of the accepted turns, in the order raised.
func (x *Export) openObjections() []objection {
	var open []objection
	for _, row := range x.facts.history {
		for _, o := range row.Objects("objections") {
			switch o.String("status") {
			case "", "raised", "acknowledged", "escalated":
				open = append(open, objection{row.String("turn_id"), row.String("role"), o.String("id"),
					o.String("severity"), o.String("statement"), row.String("accepted_at")})
			default:
				open = slices.DeleteFunc(open, func(have objection) bool { return have.id == o.String("id") })
			}
		}
	}
	return open
}
