// Building the picture from facts.

package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

type builder struct {
	p       *Picture
	turns   []*Turn
	byID    map[string]*Turn
	wait    *Wait
	posted  map[string]int // gate and time -> its post
	decided []*Fact
	done    bool
}

// Build makes the picture of one run. Facts with equal times keep their order.
func Build(facts []*Fact, opt Options) *Picture {
	var rows []*Fact
	for _, f := range facts {
		if f != nil && (f.Run == "" || opt.Run == "" || f.Run == opt.Run) && !f.At.IsZero() {
			rows = append(rows, f)
		}
	}
	slices.SortStableFunc(rows, func(a, b *Fact) int { return a.At.Compare(b.At) })
	b := &builder{p: &Picture{Run: opt.Run}, byID: make(map[string]*Turn), posted: make(map[string]int)}
	for _, f := range rows {
		b.take(f)
	}
	b.finish(rows, opt)
	if opt.Phase != "" {
		b.p.only(opt.Phase)
	}
	return b.p
}

func (b *builder) take(f *Fact) {
	if b.wait != nil && f.Status == string(wire.StatusActive) && f.Kind != kindHistory {
		b.endWait(f)
	}
	switch f.Kind {
	case run.EventRunStarted:
		b.p.Phases = append(b.p.Phases, Span{Name: f.Phase, Start: f.At})
	case run.EventPhaseEntered:
		if n := len(b.p.Phases); n > 0 {
			b.p.Phases[n-1].End = f.At
		}
		b.p.Phases = append(b.p.Phases, Span{Name: cmp.Or(f.To, f.Phase), Start: f.At})
		if f.Gate != "" {
			if p := b.post(f, true); f.By == "auto" && p.By == "" {
				p.By = "the rules"
			}
		}
	case run.EventGatePending:
		b.startWait(f, "approval")
	case run.EventGateApproved:
		b.endWait(f)
		b.post(f, true)
	case run.EventGateFailed, run.EventApprovalWithdrawn, run.EventGateLeft:
		b.endWait(f)
		if p := b.post(f, false); f.Kind == run.EventGateLeft {
			p.Why = cmp.Or(p.Why, "the request was taken back")
		} else if f.Kind == run.EventApprovalWithdrawn {
			p.Why, b.done = cmp.Or(p.Why, "the approval was withdrawn"), false
		}
	case run.EventRunBlocked:
		b.alarm(f)
		b.startWait(f, cmp.Or(f.Why, "a way out"))
	case run.EventEscalationRaised, run.EventHumanEscalationRaised:
		b.alarm(f)
	case run.EventEscalationResolved, run.EventHumanEscalationResolved:
		b.endWait(f)
	case run.EventRunCompleted, run.EventAbandoned:
		b.endWait(f)
		b.giveUp(f)
		b.done = true
	default:
		if decides(f.Kind) {
			b.decided = append(b.decided, f)
			return
		}
		b.turn(f)
	}
}

func decides(kind string) bool {
	return kind == kindApproval || kind == kindDenial || kind == kindPolicy
}

// turn adds a fact about a turn.
func (b *builder) turn(f *Fact) {
	if f.Kind == run.EventPhaseCleanup {
		b.giveUp(f)
		return
	}
	if f.Turn == "" {
		return
	}
	t := b.byID[f.Turn]
	if t == nil {
		t = &Turn{ID: f.Turn, Role: f.Role, Phase: f.Phase, Outcome: Open, Start: f.At}
		b.byID[f.Turn] = t
		b.turns = append(b.turns, t)
	}
	t.Role, t.Repo = cmp.Or(t.Role, f.Role), cmp.Or(t.Repo, f.Repo)
	switch f.Kind {
	case run.EventTurnDispatched:
		if t.Outcome != Accepted && t.Outcome != GivenUp {
			t.Outcome = Open
			t.begin(f.At)
		}
	case run.EventAcceptanceFailed:
		t.end(f, Refused)
		t.begin(f.At)
	case run.EventTurnConflicted:
		t.end(f, Conflict)
		t.Outcome = Conflict
		for _, other := range f.Others {
			b.p.Arrows = append(b.p.Arrows, Arrow{other, t.ID, "conflict"})
		}
	case run.EventTurnRejected:
		t.sendBack(f)
		if f.Final {
			t.Outcome = Failed
		}
	case run.EventTurnStalled, run.EventTurnStartFailed:
		t.end(f, Stalled)
		t.Outcome = Stalled
	case run.EventTurnReissued:
		if old := b.byID[f.From]; old != nil {
			old.end(f, GivenUp)
			old.Outcome = GivenUp
			b.p.Arrows = append(b.p.Arrows, Arrow{old.ID, t.ID, "reissue"})
		}
	case run.EventTurnAccepted:
		b.accepted(t, f)
	case run.EventTurnCheckpointed:
		t.Commit, t.CommittedAt = f.Commit, f.At
	case kindHistory:
		b.history(t, f)
	}
}

func (b *builder) accepted(t *Turn, f *Fact) {
	if len(t.Attempts) == 0 {
		t.begin(started(f))
	}
	t.end(f, Accepted)
	t.Outcome = Accepted
}

// started returns when a fact says its turn began, never later than the fact.
func started(f *Fact) time.Time {
	if f.Start.IsZero() || f.Start.After(f.At) {
		return f.At
	}
	return f.Start
}

// history adds what only the history row of a turn knows.
func (b *builder) history(t *Turn, f *Fact) {
	if f.Status == run.HistoryReissued {
		if len(t.Attempts) == 0 {
			t.begin(started(f))
		}
		t.end(f, GivenUp)
		t.Outcome = GivenUp
		return
	}
	if t.Outcome != Accepted { // there was no event: another tool's run, or a truncated log
		b.accepted(t, f)
	}
	t.Phase, t.Summary = cmp.Or(f.Phase, t.Phase), f.Why
	t.USD, t.InputTokens, t.OutputTokens = f.USD, f.Input, f.Output
	t.Commit = cmp.Or(t.Commit, f.Commit)
	if f.From != "" && f.From != t.ID {
		b.p.Arrows = append(b.p.Arrows, Arrow{f.From, t.ID, "delegation"})
	}
}

func (t *Turn) begin(at time.Time) {
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Outcome == Open {
		return
	}
	if len(t.Attempts) < maxAttempts {
		t.Attempts = append(t.Attempts, Attempt{Start: at, Outcome: Open})
	}
}

// end ends the open attempt; a second answer after the end becomes its own attempt.
func (t *Turn) end(f *Fact, outcome string) {
	n := len(t.Attempts)
	if n == 0 {
		return
	}
	if a := &t.Attempts[n-1]; a.Outcome == Open {
		a.End, a.Outcome = f.At, outcome
		if outcome != Accepted {
			a.Why = f.Why
		}
	}
}

// sendBack ends an attempt. One that was just refused for the same reason, as the loop does it, is not told twice.
func (t *Turn) sendBack(f *Fact) {
	if n := len(t.Attempts); n > 1 && t.Attempts[n-1].Outcome == Open {
		if a := &t.Attempts[n-2]; a.Outcome == Refused && a.Why == f.Why {
			a.End, a.Outcome = f.At, SentBack
			t.Attempts = t.Attempts[:n-1]
			return
		}
	}
	t.end(f, SentBack)
}

// maxAttempts bounds the segments of a bar.
const maxAttempts = 100

func (b *builder) giveUp(f *Fact) {
	for _, id := range f.Others {
		if t := b.byID[id]; t != nil && t.Outcome != Accepted {
			t.end(f, GivenUp)
			t.Outcome = GivenUp
		}
	}
}

func (b *builder) startWait(f *Fact, what string) {
	if b.wait != nil {
		return
	}
	b.wait = &Wait{Start: f.At, Phase: f.Phase, For: what, Open: true}
}

func (b *builder) endWait(f *Fact) {
	if b.wait == nil {
		return
	}
	b.wait.End, b.wait.Open = f.At, false
	if b.wait.For == "approval" && f.Gate != "" {
		b.wait.For = "approval of " + f.Gate
	}
	b.p.Waits = append(b.p.Waits, *b.wait)
	b.wait = nil
}

func (b *builder) post(f *Fact, opened bool) *Post {
	key := f.Gate + "\x00" + strconv.FormatInt(f.At.UnixMilli(), 10)
	i, ok := b.posted[key]
	if !ok {
		i = len(b.p.Posts)
		b.posted[key] = i
		b.p.Posts = append(b.p.Posts, Post{
			At:     f.At,
			Gate:   f.Gate,
			From:   cmp.Or(f.From, f.Phase),
			To:     f.To,
			Opened: opened,
			Why:    f.Why,
		})
	}
	return &b.p.Posts[i]
}

func (b *builder) alarm(f *Fact) {
	if n := len(b.p.Alarms); n > 0 && b.p.Alarms[n-1].At.Equal(f.At) {
		return // a block and the escalation it raises count as one
	}
	b.p.Alarms = append(b.p.Alarms, Alarm{f.At, f.Why})
}

// finish closes open items and adds who decided.
func (b *builder) finish(rows []*Fact, opt Options) {
	p := b.p
	// Decisions only annotate what is already there: such a row may belong to an earlier run.
	rows = slices.DeleteFunc(rows, func(f *Fact) bool { return decides(f.Kind) })
	if len(rows) > 0 {
		p.Start, p.End = rows[0].At, rows[len(rows)-1].At
		p.Run = cmp.Or(p.Run, rows[0].Run)
	}
	if !b.done && opt.Now.After(p.End) && len(rows) > 0 {
		p.Live, p.End = true, opt.Now
	}
	for _, f := range b.decided {
		if i, ok := b.posted[f.Gate+"\x00"+strconv.FormatInt(f.At.UnixMilli(), 10)]; ok {
			p.Posts[i].By = f.By
		}
	}
	if b.wait != nil {
		b.wait.End = p.End
		p.Waits = append(p.Waits, *b.wait)
	}
	if n := len(p.Phases); n > 0 {
		p.Phases[n-1].End = p.End
	}
	for _, t := range b.turns {
		t.close(p)
		p.Turns = append(p.Turns, *t)
		if t.Start.Before(p.Start) {
			p.Start = t.Start
		}
	}
	slices.SortStableFunc(p.Turns, func(a, b Turn) int { return a.Start.Compare(b.Start) })
}

// close sets the times of a turn's attempts.
func (t *Turn) close(p *Picture) {
	if len(t.Attempts) == 0 {
		t.Attempts = []Attempt{{Start: t.Start, End: t.Start, Outcome: t.Outcome}}
	}
	for i := range t.Attempts {
		if a := &t.Attempts[i]; a.Outcome == Open {
			a.End = p.End
		}
	}
	t.Start, t.End = t.Attempts[0].Start, t.Attempts[len(t.Attempts)-1].End
}

// only restricts the picture to one phase and its time.
func (p *Picture) only(phase string) {
	p.Phase = phase
	p.Phases = slices.DeleteFunc(p.Phases, func(s Span) bool { return s.Name != phase })
	p.Turns = slices.DeleteFunc(p.Turns, func(t Turn) bool { return t.Phase != phase })
	p.Posts = slices.DeleteFunc(p.Posts, func(g Post) bool { return g.From != phase })
	p.Waits = slices.DeleteFunc(p.Waits, func(w Wait) bool { return w.Phase != phase })
	in := func(at time.Time) bool {
		return slices.ContainsFunc(p.Phases, func(s Span) bool { return !at.Before(s.Start) && !at.After(s.End) })
	}
	p.Alarms = slices.DeleteFunc(p.Alarms, func(a Alarm) bool { return !in(a.At) })
	kept := make(map[string]bool, len(p.Turns))
	for i := range p.Turns {
		kept[p.Turns[i].ID] = true
	}
	p.Arrows = slices.DeleteFunc(p.Arrows, func(a Arrow) bool { return !kept[a.From] || !kept[a.To] })
	from, to := time.Time{}, time.Time{}
	grow := func(a, b time.Time) {
		if from.IsZero() || a.Before(from) {
			from = a
		}
		if b.After(to) {
			to = b
		}
	}
	for _, s := range p.Phases {
		grow(s.Start, s.End)
	}
	for i := range p.Turns {
		grow(p.Turns[i].Start, p.Turns[i].End)
	}
	p.Start, p.End = from, to
	p.Live = p.Live && (slices.ContainsFunc(p.Turns, func(t Turn) bool { return t.Outcome == Open }) ||
		slices.ContainsFunc(p.Waits, func(w Wait) bool { return w.Open }))
}
