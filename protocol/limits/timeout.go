// Time limits of turns, phases and runs (docs/spec/gates.md#timeouts).

package limits

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// defaultTurnMinutes is the deadline shown for a turn without a time limit.
const defaultTurnMinutes = 120

// TimeoutHit is an exceeded limit. Minutes are rounded half up; the limit is as configured.
type TimeoutHit struct {
	Scope             string // turn, phase, run
	Phase             string // of a phase limit, else ""
	LimitMinutes      float64
	ElapsedMinutes    int
	ExceededByMinutes int
	Action            string // escalate, warn, skip_phase
}

// Detail says in one line which limit was exceeded and by how much.
func (h TimeoutHit) Detail() string {
	what := "Turn timeout"
	switch h.Scope {
	case "phase":
		what = "Phase timeout (" + h.Phase + ")"
	case "run":
		what = "Run timeout"
	}
	return fmt.Sprintf("%s: limit was %sm, elapsed %dm (exceeded by %dm)", what, MinutesText(h.LimitMinutes),
		h.ElapsedMinutes, h.ExceededByMinutes)
}

func MinutesText(m float64) string { return strconv.FormatFloat(m, 'f', -1, 64) }

// Object returns the hit as a record (docs/spec/gates.md#timeouts).
func (h TimeoutHit) Object() *ojson.Object {
	o := ojson.NewObject("scope", h.Scope)
	if h.Phase != "" {
		o.Set("phase", h.Phase)
	}
	o.Set("limit_minutes", h.LimitMinutes)
	o.Set("elapsed_minutes", h.ElapsedMinutes)
	o.Set("exceeded_by_minutes", h.ExceededByMinutes)
	o.Set("action", h.Action)
	return o
}

// TimeoutBudget is a configured limit for a status display.
type TimeoutBudget struct {
	Scope            string
	Phase            string
	LimitMinutes     float64
	ElapsedMinutes   int
	RemainingMinutes int // 0 when exceeded
	RemainingSeconds int // 0 when exceeded
	Deadline         time.Time
	Exceeded         bool
	Action           string
}

// Object returns the budget for status --json.
func (b TimeoutBudget) Object() *ojson.Object {
	o := ojson.NewObject("scope", b.Scope)
	if b.Phase != "" {
		o.Set("phase", b.Phase)
	}
	o.Set("limit_minutes", b.LimitMinutes)
	o.Set("elapsed_minutes", b.ElapsedMinutes)
	o.Set("remaining_minutes", b.RemainingMinutes)
	o.Set("remaining_seconds", b.RemainingSeconds)
	o.Set("deadline_iso", wire.FormatTime(b.Deadline))
	o.Set("exceeded", b.Exceeded)
	o.Set("action", b.Action)
	return o
}

// EvaluateTimeouts returns the exceeded limits, turn before phase before run.
// turn may be nil. Whether the run's status lets a hit act is the caller's
// decision; a limit whose start is unknown or unreadable is never exceeded.
func EvaluateTimeouts(cfg *config.Config, state *run.State, turn *run.Turn, now time.Time) []TimeoutHit {
	var out []TimeoutHit
	for _, l := range TimeLimits(cfg, state, turn) {
		if b := l.At(now); b.Exceeded {
			out = append(out, TimeoutHit{
				Scope:             l.Scope,
				Phase:             l.Phase,
				LimitMinutes:      l.Minutes,
				ElapsedMinutes:    b.ElapsedMinutes,
				ExceededByMinutes: RoundMinutes(now.Sub(b.Deadline)),
				Action:            l.Action,
			})
		}
	}
	return out
}

// TimeoutBudgets returns every configured limit with what is left of it.
func TimeoutBudgets(cfg *config.Config, state *run.State, turn *run.Turn, now time.Time) []TimeoutBudget {
	var out []TimeoutBudget
	for _, l := range TimeLimits(cfg, state, turn) {
		out = append(out, l.At(now))
	}
	return out
}

// TurnDeadline returns the informational deadline_at of a turn assigned at the given time: per_turn_minutes later,
// or two hours without such a limit.
func TurnDeadline(cfg *config.Config, assigned time.Time) time.Time {
	minutes := float64(defaultTurnMinutes)
	if t := cfg.Timeouts; t != nil && t.PerTurn != nil {
		minutes = *t.PerTurn
	}
	return assigned.Add(minutesDuration(minutes))
}

// TimeLimit is a configured limit with its start.
type TimeLimit struct {
	Scope, Phase string
	Minutes      float64
	Action       string
	start        time.Time
}

// TimeLimits lists the limits that apply. Without a timeouts object nothing is evaluated, not even routing
// overrides.
func TimeLimits(cfg *config.Config, state *run.State, turn *run.Turn) []TimeLimit {
	t := cfg.Timeouts
	if t == nil {
		return nil
	}
	global := t.Action
	if global != config.TimeoutWarn {
		global = config.TimeoutEscalate // skip_phase only makes sense for a phase
	}
	var out []TimeLimit
	add := func(scope, phase string, minutes *float64, action string, starts ...*string) {
		if minutes == nil || math.IsNaN(*minutes) || *minutes <= 0 {
			return
		}
		if at, ok := FirstInstant(starts...); ok {
			out = append(out, TimeLimit{scope, phase, *minutes, action, at})
		}
	}
	if turn != nil {
		add("turn", "", t.PerTurn, global, &turn.StartedAt, &turn.AssignedAt)
	}
	phaseLimit, phaseAction := t.PerPhase, global
	if r := cfg.Route(state.Phase); r != nil {
		if r.TimeoutMinutes != nil {
			phaseLimit = r.TimeoutMinutes
		}
		switch r.TimeoutAction {
		case config.TimeoutEscalate, config.TimeoutWarn, config.TimeoutSkipPhase:
			phaseAction = r.TimeoutAction
		}
	}
	clock := state.PhaseClockAt
	if restarted, ok := FirstInstant(clock); ok {
		// Another tool that entered the next phase left the clock of the previous one.
		if entered, ok := FirstInstant(state.PhaseEnteredAt); ok && restarted.Before(entered) {
			clock = nil
		}
	}
	add("phase", state.Phase, phaseLimit, phaseAction, clock, state.PhaseEnteredAt, state.CreatedAt)
	add("run", "", t.PerRun, global, state.CreatedAt)
	return out
}

// FirstInstant parses the first text that is present.
func FirstInstant(texts ...*string) (time.Time, bool) {
	for _, s := range texts {
		if s != nil && *s != "" {
			at, err := wire.ParseTime(*s)
			return at, err == nil
		}
	}
	return time.Time{}, false
}

// At returns the limit's budget at a time.
func (l TimeLimit) At(now time.Time) TimeoutBudget {
	b := TimeoutBudget{Scope: l.Scope, Phase: l.Phase, LimitMinutes: l.Minutes, Action: l.Action,
		ElapsedMinutes: RoundMinutes(now.Sub(l.start)), Deadline: l.start.Add(minutesDuration(l.Minutes))}
	left := b.Deadline.Sub(now)
	b.Exceeded = left < 0
	if left > 0 {
		b.RemainingMinutes = RoundMinutes(left)
		b.RemainingSeconds = int(math.Floor(left.Seconds() + 0.5))
	}
	return b
}

// minutesDuration converts to a duration of whole milliseconds, the precision of the wire; a limit beyond the range
// of a duration becomes the longest duration.
func minutesDuration(m float64) time.Duration {
	ms := math.Round(m * 60000)
	if ms >= math.MaxInt64/float64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}

// RoundMinutes rounds half up, toward positive infinity (docs/spec/README.md#encoding).
func RoundMinutes(d time.Duration) int { return int(math.Floor(d.Minutes() + 0.5)) }
