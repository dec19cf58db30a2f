// The live view of a run: events scroll by, and below them is what is under way.

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/agentstream"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

const (
	liveInterval  = 250 * time.Millisecond // between two pictures
	heartbeatEach = 30 * time.Second       // between two lines where there is no terminal
	soon          = 30 * time.Minute       // a deadline this near is shown
	wide          = 72                     // columns from which turns are also shown with their id
)

// liveView shows active turns on stderr and prints lines above them. Where stderr is not a terminal
// it writes a heartbeat line now and then instead, so that a log shows life; with --json it shows
// nothing. It is safe for concurrent use.
type liveView struct {
	f        *term.Factory
	terminal bool
	silent   bool

	mu      sync.Mutex
	turns   []*liveTurn
	where   string            // run, phase, cost
	drawn   []int             // columns of the lines now on the screen
	waits   map[string]string // what turns wait for, as last reported
	ending  chan struct{}
	ended   chan struct{}
	lastSay time.Time
}

// liveTurn is one turn under way.
type liveTurn struct {
	id, role string
	attempt  int
	since    time.Time
	deadline time.Time
	activity string // last sign of life, safe and on one line
	heard    time.Time
}

func newLiveView(f *term.Factory) *liveView {
	return &liveView{
		f:        f,
		silent:   f.Global.JSON,
		terminal: !f.Global.JSON && !f.Global.NoProgress && f.Env.IsTerminal(f.Env.Stderr),
	}
}

// start begins to draw; stop removes the picture again. Both may be repeated.
func (v *liveView) start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.silent || v.ending != nil {
		return
	}
	v.ending, v.ended, v.lastSay = make(chan struct{}), make(chan struct{}), v.f.Now()
	go v.repeat(v.ending, v.ended)
}

func (v *liveView) stop() {
	v.mu.Lock()
	ending, ended := v.ending, v.ended
	v.ending, v.ended = nil, nil
	v.mu.Unlock()
	if ending != nil {
		close(ending)
		<-ended
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
}

func (v *liveView) repeat(ending, ended chan struct{}) {
	defer close(ended)
	tick := time.NewTicker(liveInterval)
	defer tick.Stop()
	for {
		select {
		case <-ending:
			return
		case <-tick.C:
		}
		v.mu.Lock()
		if v.terminal {
			v.draw()
		} else {
			v.heartbeat()
		}
		v.mu.Unlock()
	}
}

// turn notes that a turn is under way, or under way again.
func (v *liveView) turn(t *run.Turn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.entry(t.TurnID)
	e.role, e.attempt, e.since, e.activity, e.heard = t.AssignedRole, t.Attempt, v.f.Now(), "", time.Time{}
	delete(v.waits, t.TurnID)
	e.deadline, _ = wire.ParseTime(t.DeadlineAt)
}

func (v *liveView) entry(id string) *liveTurn {
	for _, t := range v.turns {
		if t.id == id {
			return t
		}
	}
	t := &liveTurn{id: id, since: v.f.Now()}
	v.turns = append(v.turns, t)
	return t
}

// gone removes a turn from the picture.
func (v *liveView) gone(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.turns = slices.DeleteFunc(v.turns, func(t *liveTurn) bool { return t.id == id })
}

// run notes where the run is. It removes turns that the run no longer has.
func (v *liveView) run(s *run.State) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.where = s.Run() + ", phase " + s.Phase
	if s.BudgetStatus.SpentUSD > 0 {
		v.where += ", " + budgetText(s)
	}
	v.turns = slices.DeleteFunc(v.turns, func(t *liveTurn) bool { return !s.ActiveTurns.Has(t.id) })
	for id, t := range s.ActiveTurns.All() {
		if t != nil && !slices.ContainsFunc(v.turns, func(e *liveTurn) bool { return e.id == id }) {
			at, _ := wire.ParseTime(t.DeadlineAt)
			v.turns = append(v.turns, &liveTurn{
				id:       id,
				role:     t.AssignedRole,
				attempt:  t.Attempt,
				since:    v.f.Now(),
				deadline: at,
			})
		}
	}
}

// activity notes a sign of life of an agent.
func (v *liveView) activity(id string, a runtimes.Activity) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if a.Type == loop.ActivityWaiting {
		v.wait(id, a.Summary)
	} else {
		delete(v.waits, id)
	}
	i := slices.IndexFunc(v.turns, func(t *liveTurn) bool { return t.id == id })
	if i < 0 {
		return
	}
	t := v.turns[i]
	t.heard = v.f.Now()
	text, record := agentstream.Step(a.Line)
	if record && text == "" {
		return // a record that tells a person nothing; the agent's earlier activity stays
	}
	if text == "" {
		text = a.Summary
	}
	if text == "" && t.activity != "" {
		return // it lives, and has nothing to say: its last words stay
	}
	if text == "" {
		text = a.Type
	}
	if len(text) > 4096 {
		text = text[:4096]
	}
	t.activity = term.OneLine(strings.ToValidUTF8(text, ""))
}

// wait reports once what a turn waits for: nothing moves until then, so the picture alone is not enough.
func (v *liveView) wait(id, what string) {
	if v.silent || v.waits[id] == what {
		return
	}
	if v.waits == nil {
		v.waits = make(map[string]string)
	}
	v.waits[id] = what
	v.erase()
	v.f.Out.Notice("%s: %s", id, term.OneLine(what))
	v.lastSay = v.f.Now()
}

// line prints a permanent line, above what is under way.
func (v *liveView) line(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	p := v.f.Out.Printer()
	p.Printf("%s\n", text)
	_ = v.f.Out.Flush()
	v.lastSay = v.f.Now()
	if v.ending != nil && v.terminal {
		v.draw()
	}
}

// heartbeat reports now and then that the run is alive.
func (v *liveView) heartbeat() {
	now := v.f.Now()
	if now.Sub(v.lastSay) < heartbeatEach || len(v.turns) == 0 {
		return
	}
	v.lastSay = now
	for _, t := range v.turns {
		if what := v.waits[t.id]; what != "" {
			v.f.Out.Notice("%s: %s", t.id, term.OneLine(what))
			continue
		}
		text := fmt.Sprintf("%s  %s  working for %s", term.OneLine(t.role), t.id, clock(now.Sub(t.since)))
		if !t.heard.IsZero() {
			text += fmt.Sprintf(", last heard of %s ago", clock(now.Sub(t.heard)))
		}
		if strings.HasPrefix(t.activity, "error: ") { // why nothing moves, such as an unreachable model
			text += ", " + t.activity
		}
		v.f.Out.Notice("%s", text)
	}
}

// draw replaces the picture on the screen.
func (v *liveView) draw() {
	width := v.f.Env.Width(v.f.Env.Stderr)
	if width <= 0 {
		width = 80
	}
	lines := v.picture(width - 1) // the last column would wrap on some terminals
	var b strings.Builder
	v.back(&b, width)
	for _, l := range lines {
		b.WriteString(l)
		b.WriteString("\x1b[K\n") // written over, not wiped first: that would flicker
	}
	b.WriteString("\x1b[J")
	v.drawn = v.drawn[:0]
	for _, l := range lines {
		v.drawn = append(v.drawn, term.DisplayWidth(l))
	}
	_, _ = io.WriteString(v.f.Env.Stderr, b.String())
}

// erase removes the picture.
func (v *liveView) erase() {
	if len(v.drawn) == 0 {
		return
	}
	var b strings.Builder
	v.back(&b, v.f.Env.Width(v.f.Env.Stderr))
	b.WriteString("\x1b[J")
	v.drawn = v.drawn[:0]
	_, _ = io.WriteString(v.f.Env.Stderr, b.String())
}

// back moves to where the picture begins. A terminal that was made narrower has wrapped the lines
// since.
func (v *liveView) back(b *strings.Builder, width int) {
	rows := 0
	for _, w := range v.drawn {
		rows++
		if width > 0 && w > width {
			rows += (w - 1) / width
		}
	}
	if rows > 0 {
		fmt.Fprintf(b, "\r\x1b[%dA", rows)
	}
}

// picture returns the lines to show, none wider than width columns, and plain: what is under way
// goes to stderr, and colours are for the lines that are kept.
func (v *liveView) picture(width int) []string {
	if len(v.turns) == 0 {
		return nil
	}
	now := v.f.Now()
	roles := 0
	for _, t := range v.turns {
		roles = max(roles, term.DisplayWidth(term.OneLine(t.role)))
	}
	var lines []string
	for _, t := range v.turns {
		text := fmt.Sprintf("  %s  %s", term.Pad(term.OneLine(t.role), min(roles, 20)), clock(now.Sub(t.since)))
		if width >= wide { // below that the room is for the agent's words
			text = fmt.Sprintf("  %s  %s  %s", term.Pad(term.OneLine(t.role), min(roles, 20)), t.id,
				clock(now.Sub(t.since)))
		}
		if t.attempt > 1 {
			text += fmt.Sprintf("  attempt %d", t.attempt)
		}
		if left := t.deadline.Sub(now); !t.deadline.IsZero() {
			switch {
			case left > soon: // two hours away is not news
			case left > 0:
				text += "  " + clock(left) + " left"
			default:
				text += "  overdue"
			}
		}
		if t.activity != "" {
			text += "  " + t.activity
		}
		lines = append(lines, term.Truncate(text, width))
	}
	where := "  " + term.OneLine(v.where)
	if help := "  (Ctrl-C ends the agents; git agentxchain run resumes)"; term.DisplayWidth(where+help) <= width {
		where += help
	}
	return append(lines, term.Truncate(where, width))
}

// clock formats a duration for watching: 0:07, 12:45, 1:02:03.
func clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
