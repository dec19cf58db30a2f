// The watchdog: turns whose agent never started or has fallen silent
// (docs/spec/lifecycle.md#recovery, docs/runtimes.md#what-is-written-while-an-agent-works), and dispatches that ran
// out of time.

package attempt

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Failures of a dispatch at its start (docs/runtimes.md#what-is-written-while-an-agent-works).
const (
	FailureSpawn    = "runtime_spawn_failed"
	FailureAttach   = "stdout_attach_failed"
	FailureNoOutput = "no_subprocess_output"

	stalledReason = "no_output_within_threshold"
)

// Health of an active turn.
const (
	HealthGhost = "ghost" // its agent never gave a sign of life
	HealthStale = "stale" // its agent did, and went silent
)

// WatchedTurn is what was observed of an active turn from outside. Times are in wire format, "" when unknown.
type WatchedTurn struct {
	TurnID        string `json:"turn_id"`
	Staged        bool   `json:"staged,omitempty"`          // a meaningful result is staged
	Driven        bool   `json:"driven,omitempty"`          // a dispatcher looks after it, or will: it was interrupted
	FirstOutputAt string `json:"first_output_at,omitempty"` // first sign of life
	ActivityAt    string `json:"activity_at,omitempty"`     // last sign of life
	// the dispatcher saw it fail to start: one of the failures, no threshold needed
	Failure string `json:"failure,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// TurnHealth is a turn that the watchdog reports.
type TurnHealth struct {
	Turn        *run.Turn
	Kind        string // ghost, stale
	Failure     string // for a ghost: one of the failures; for a stale turn no_output_within_threshold
	RunningMS   int    // time since the dispatch
	ThresholdMS int
	Detail      string // the dispatcher's own words, or ""
}

// Recovery returns the command that replaces the turn.
func (h TurnHealth) Recovery() string {
	return "git agentxchain reissue " + wire.ShellWord(h.Turn.TurnID) + " --reason " + h.Kind
}

// WatchTurns checks the active turns against the thresholds of the watchdog. It never lists turns of manual
// runtimes, which a person paces, nor turns that were not observed, that have staged their result or that are being
// driven.
func WatchTurns(cfg *config.Config, s *run.State, seen []WatchedTurn, now time.Time) []TurnHealth {
	var out []TurnHealth
	for _, w := range seen {
		turn, ok := s.ActiveTurns.Get(w.TurnID)
		if !ok || !turn.Dispatching() || turn.Status == wire.TurnAssigned {
			continue
		}
		rt, ok := cfg.Runtimes.Get(turn.RuntimeID)
		if !ok || rt == nil || rt.Type == config.RuntimeManual {
			continue
		}
		if h := watch(cfg, rt, turn, w, now); h != nil {
			out = append(out, *h)
		}
	}
	return out
}

func watch(cfg *config.Config, rt *config.Runtime, turn *run.Turn, w WatchedTurn, now time.Time) *TurnHealth {
	since, known := limits.FirstInstant(&turn.StartedAt, &turn.DispatchedAt, &turn.AssignedAt)
	if turn.Status == wire.TurnDispatched || turn.Status == wire.TurnRetrying {
		since, known = limits.FirstInstant(&turn.DispatchedAt, &turn.AssignedAt)
	}
	running := now.Sub(since)
	h := &TurnHealth{
		Turn:        turn,
		Kind:        HealthGhost,
		RunningMS:   millis(running),
		ThresholdMS: startupThreshold(cfg, rt),
		Detail:      w.Detail,
	}
	switch w.Failure {
	case FailureSpawn, FailureAttach, FailureNoOutput:
		h.Failure = w.Failure
		return h
	case "":
	default:
		return nil
	}
	if !known || w.Staged || w.Driven {
		return nil
	}
	proof := w.FirstOutputAt != "" || proven(turn)
	if !proof {
		if h.RunningMS < h.ThresholdMS {
			return nil
		}
		h.Failure = failureAt(turn)
		return h
	}
	if turn.Status != wire.TurnRunning && turn.Status != wire.TurnRetrying {
		return nil
	}
	last := since
	for _, text := range []string{w.FirstOutputAt, w.ActivityAt} {
		if at, err := wire.ParseTime(text); err == nil && at.After(last) {
			last = at
		}
	}
	h.Kind, h.Failure, h.ThresholdMS = HealthStale, stalledReason, staleThreshold(cfg, rt)
	if millis(now.Sub(last)) < h.ThresholdMS {
		return nil
	}
	return h
}

// proven reports whether the turn's own record has a sign of life.
func proven(turn *run.Turn) bool {
	at, _ := turn.Extra.Value("first_output_at").(string)
	return at != ""
}

// failureAt says how far a turn that never started had come.
func failureAt(turn *run.Turn) string {
	if _, attached := turn.Extra.Get("worker_attached_at"); attached || turn.Status == wire.TurnStarting {
		return FailureAttach
	}
	if turn.Status == wire.TurnDispatched {
		return FailureSpawn
	}
	return FailureNoOutput
}

func millis(d time.Duration) int { return int(max(0, min(d.Milliseconds(), math.MaxInt32))) }

// startupThreshold returns how long an agent may take to give a sign of life, in milliseconds: the runtime's own
// limit, else the run loop's.
func startupThreshold(cfg *config.Config, rt *config.Runtime) int {
	if n, ok := rt.Raw.Int("startup_watchdog_ms"); ok && n > 0 {
		return n
	}
	if n := cfg.RunLoop.StartupWatchdogMS; n > 0 {
		return n
	}
	return 180_000
}

// staleThreshold returns how long a running agent may be silent, in milliseconds.
func staleThreshold(cfg *config.Config, rt *config.Runtime) int {
	if n := cfg.RunLoop.StaleThresholdMS; n != nil && *n > 0 {
		return *n
	}
	if rt.Type == "api_proxy" {
		return 300_000
	}
	return 600_000
}

// Watch marks the turns that the watchdog reports and blocks the run on them. The observations are part of the
// operation; the engine checks them against the thresholds.
type Watch struct {
	Turns []WatchedTurn `json:"turns"`
}

func (*Watch) Name() string               { return "watch_turns" }
func (op *Watch) Blobs() []*evidence.Blob { return nil }

// WatchResult is the outcome of Watch.
type WatchResult struct {
	Ghosts, Stale []TurnHealth
	BlockedOn     string
}

func (op *Watch) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if s.Status != wire.StatusActive && s.Status != wire.StatusBlocked {
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "status",
			Message: fmt.Sprintf("Turns are watched only in an active run; this one is %s.", s.Status),
			Hint:    "git agentxchain status",
		}
	}
	lost := WatchTurns(t.Config, s, op.Turns, t.Env.Now)
	if len(lost) == 0 {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "turns",
			Message: "The watchdog has nothing to object to.",
		}
	}
	res := &WatchResult{}
	ghosts, stalled := []string{}, []string{}
	for _, h := range lost {
		turn := lose(t, h)
		h.Turn = turn
		if h.Kind == HealthGhost {
			res.Ghosts, ghosts = append(res.Ghosts, h), append(ghosts, turn.TurnID)
		} else {
			res.Stale, stalled = append(res.Stale, h), append(stalled, turn.TurnID)
		}
	}
	first := append(append([]TurnHealth{}, res.Ghosts...), res.Stale...)[0]
	t.About(first.Turn)
	t.Subject = fmt.Sprintf("watchdog: %s (%s) is %s", first.Turn.TurnID, first.Turn.AssignedRole, first.Turn.Status)
	if n := len(lost) - 1; n > 0 {
		t.Subject += fmt.Sprintf(", and %d more", n)
	}
	if s.Status == wire.StatusActive { // else the present block says what to do; these follow once it is settled
		blockLost(t, first, ghosts, stalled)
	}
	res.BlockedOn = wire.OrEmpty(s.BlockedOn)
	t.Result = res
	return nil
}

// lose marks one turn as lost and releases its reservation.
func lose(t *change.Draft, h TurnHealth) *run.Turn {
	turn := *h.Turn
	status, prefix := wire.TurnFailedStart, "failed_start_"
	if h.Kind == HealthStale {
		status, prefix = wire.TurnStalled, "stalled_"
	}
	turn.Extra.Set(prefix+"at", t.Env.Time())
	turn.Extra.Set(prefix+"reason", h.Failure)
	turn.Extra.Set(prefix+"previous_status", turn.Status)
	turn.Extra.Set(prefix+"threshold_ms", h.ThresholdMS)
	turn.Extra.Set(prefix+"running_ms", h.RunningMS)
	turn.Extra.Set("recovery_command", h.Recovery())
	turn.Status = status
	t.State.ActiveTurns.Set(turn.TurnID, &turn)
	t.State.BudgetReservations.Delete(turn.TurnID)
	payload := []any{"running_ms", h.RunningMS, "threshold_ms", h.ThresholdMS, "runtime_id", turn.RuntimeID,
		"recommendation", h.Recovery()}
	if h.Kind == HealthStale {
		t.Event(run.EventTurnStalled, &turn, payload...)
		return &turn
	}
	payload = append(payload, "failure_type", h.Failure)
	if h.Detail != "" {
		payload = append(payload, "detail", run.Clip(wire.OneLine(h.Detail), 500))
	}
	t.Event(run.EventTurnStartFailed, &turn, payload...)
	if h.Failure == FailureSpawn || h.Failure == FailureAttach {
		t.Event(h.Failure, &turn, payload...)
	}
	return &turn
}

// blockLost blocks the run on lost turns; ghosts come before stale ones.
func blockLost(t *change.Draft, first TurnHealth, ghosts, stalled []string) {
	word, ids, category := "failed_start", ghosts, "ghost_turn"
	if len(ghosts) == 0 {
		word, ids, category = "stalled", stalled, "stale_turn"
	}
	on := "turn:" + word + ":" + ids[0]
	if len(ids) > 1 {
		on = "turns:" + word
	}
	detail := fmt.Sprintf("Turn %s (%s) gave no sign of life within %s.", first.Turn.TurnID, first.Turn.AssignedRole,
		time.Duration(first.ThresholdMS)*time.Millisecond)
	if first.Detail != "" {
		detail = fmt.Sprintf("Turn %s (%s) did not start: %s", first.Turn.TurnID, first.Turn.AssignedRole,
			run.Clip(wire.OneLine(first.Detail), 500))
	}
	if n := len(ghosts) + len(stalled); n > 1 {
		detail += fmt.Sprintf(" Lost altogether: %s.",
			strings.Join(append(append([]string{}, ghosts...), stalled...), ", "))
	}
	t.Block(change.Block{
		On:          on,
		Category:    category,
		TypedReason: category,
		Owner:       run.OwnerHuman,
		Action:      first.Recovery(),
		Detail:      detail,
		Turn:        first.Turn,
		Retained:    true,
		More:        []any{"ghost_turn_ids", ghosts, "stalled_turn_ids", stalled},
	})
}

// DispatchTimeout blocks the run because a dispatch ran out of time
// (docs/run-loop.md#what-becomes-of-a-turn); the turn stays and can be dispatched again.
type DispatchTimeout struct {
	TurnID  string `json:"turn_id"`
	Scope   string `json:"scope"`    // turn, phase, run: which limit it was
	LimitMS int    `json:"limit_ms"` // the dispatch's time limit
}

func (*DispatchTimeout) Name() string               { return "dispatch_timeout" }
func (op *DispatchTimeout) Blobs() []*evidence.Blob { return nil }

func (op *DispatchTimeout) Apply(t *change.Draft) *wire.Error {
	turn, err := t.Target(op.TurnID, "time out")
	if err != nil {
		return err
	}
	switch op.Scope {
	case "turn", "phase", "run":
	default:
		return &wire.Error{
			Code:  wire.CodeInvalidArgument,
			Field: "scope",
			Message: fmt.Sprintf("A time limit is of a turn, a phase or a run, not of %q.",
				run.Clip(wire.OneLine(op.Scope), 40)),
		}
	}
	if t.State.Status != wire.StatusActive {
		return run.BlockedError(t.State, "time out turn "+turn.TurnID)
	}
	limit := time.Duration(max(0, op.LimitMS)) * time.Millisecond
	hit := limits.TimeoutHit{
		Scope:          op.Scope,
		LimitMinutes:   math.Round(limit.Minutes()*1000) / 1000,
		ElapsedMinutes: limits.RoundMinutes(limit),
		Action:         config.TimeoutEscalate,
	}
	if op.Scope == "phase" {
		hit.Phase = t.State.Phase
	}
	for _, h := range limits.EvaluateTimeouts(t.Config, t.State, turn, t.Env.Now) {
		if h.Scope == op.Scope {
			hit = h
		}
	}
	row := ledger.NewTimeoutEntry("timeout", t.Env.Time(), turn.TurnID, t.State.Phase, hit)
	row.Set("operation", "dispatch")
	t.Append(wire.LedgerDecisions, row)
	t.About(turn)
	t.Block(change.Block{
		On:          "timeout:" + op.Scope,
		Category:    "timeout",
		TypedReason: "timeout",
		Owner:       run.OwnerOperator,
		Action:      "git agentxchain unblock",
		Turn:        turn,
		Retained:    true,
		Detail: fmt.Sprintf("The dispatch of turn %s to %s had %s and was not done",
			turn.TurnID, turn.AssignedRole, limit),
	})
	t.Subject = fmt.Sprintf("time is up for %s (%s)", turn.TurnID, turn.AssignedRole)
	t.Result = t.Blocked()
	return nil
}
