// RecordLease records what happens to the leases of turns (docs/leases.md).

package leases

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Actions that RecordLease records.
const (
	ActIssued            = "issued"   // a runner has taken the turn
	ActRestored          = "restored" // the same runner continues in another session
	ActRenewed           = "renewed"  // beyond the turn's deadline, which moves with it
	ActExpired           = "expired"
	ActCancelled         = "cancelled" // a person took the lease away
	ActReleased          = "released"  // given up without a result
	ActRejected          = "rejected"  // its result was refused
	ActRefused           = "refused"   // something was requested under an invalid lease
	ActCancelAsked       = "cancellation_requested"
	ActCancelAcked       = "cancellation_acknowledged"
	ActStarted           = "started"  // a lease server has started
	ActReloaded          = "reloaded" // it has found earlier leases
	ActProgress          = "progress" // a runner reports its progress
	maxProgressBytes     = 256 << 10
	maxLeaseReason       = 2000
	recoveryVersion      = "v1"
	recoveryRunExecuting = "executing"
)

// RecordLease appends a row about a lease to the run's events and keeps the turn consistent with it: the turn
// records its newest lease, a turn that changes hands is dispatched again, and a deadline is never before the end
// of the lease.
type RecordLease struct {
	Action    string        `json:"action"`
	Lease     *run.Lease    `json:"lease,omitempty"`
	Rejection string        `json:"lease_rejection_reason,omitempty"` // of refused
	Reason    string        `json:"reason,omitempty"`
	Details   *ojson.Object `json:"details,omitempty"`  // further members of the recovery event's details
	Progress  *ojson.Object `json:"progress,omitempty"` // payload of progress
}

func (*RecordLease) Name() string               { return "record_lease" }
func (op *RecordLease) Blobs() []*evidence.Blob { return nil }

// LeaseResult is the outcome of RecordLease; Turn is nil when it is not active.
type LeaseResult struct{ Turn *run.Turn }

func (op *RecordLease) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if s.Run() == "" {
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "run_id",
			Message: "There is no run to lease turns of.",
			Hint:    "git agentxchain assign",
		}
	}
	if len(op.Reason) > maxLeaseReason {
		return wire.InvalidArgument("reason", "A reason of %d bytes is too long; the limit is %d.", len(op.Reason),
			maxLeaseReason)
	}
	var turn *run.Turn
	if op.Lease != nil {
		if err := op.Lease.Check(); err != nil {
			return wire.InvalidArgument("lease", "The lease contradicts itself: %s.", err)
		}
		if op.Lease.RunID != s.Run() {
			return wire.InvalidArgument("lease.run_id", "The lease is of run %s, not of %s.",
				run.Clip(op.Lease.RunID, 80), s.Run())
		}
		if was, ok := s.ActiveTurns.Get(op.Lease.StepID); ok {
			next := *was
			next.Extra = was.Extra.Clone(nil)
			turn = &next
		}
	}
	if err := op.judge(t, turn); err != nil {
		return err
	}
	if turn != nil {
		s.ActiveTurns.Set(turn.TurnID, turn)
		t.About(turn)
	}
	if op.Action == ActProgress {
		t.Event("dispatch_progress", turn, objectPairs(op.Progress)...)
	} else {
		t.Event(run.EventLease, turn, objectPairs(op.payload(t, turn))...)
	}
	t.Subject = "lease " + op.Action
	if op.Lease != nil {
		t.Subject = fmt.Sprintf("lease %s: %s (%s)", op.Action, op.Lease.StepID,
			wire.OneLine(run.Clip(op.Lease.RunnerID, 60)))
	}
	t.Result = &LeaseResult{Turn: turn}
	return nil
}

// judge checks the request against the run and changes turn, a copy, accordingly.
func (op *RecordLease) judge(t *change.Draft, turn *run.Turn) *wire.Error {
	l := op.Lease
	switch op.Action {
	case ActStarted, ActReloaded:
		if l != nil {
			return wire.InvalidArgument("lease", "A server that starts has no lease to record.")
		}
		return nil
	case ActIssued, ActRestored, ActRenewed, ActExpired, ActCancelled, ActReleased,
		ActRejected,
		ActRefused, ActCancelAsked, ActCancelAcked, ActProgress:
		if l == nil {
			return wire.InvalidArgument("lease", "The lease that is %s is missing.", op.Action)
		}
	default:
		return wire.InvalidArgument("action", "%q is nothing that happens to a lease.",
			run.Clip(wire.OneLine(op.Action), 40))
	}
	if op.Action == ActRefused {
		if !slices.Contains(RejectionReasons(), op.Rejection) {
			return wire.InvalidArgument("lease_rejection_reason", "%q is not a reason to refuse a lease.",
				run.Clip(wire.OneLine(op.Rejection), 40))
		}
		return nil // also for a turn that is over
	}
	if turn == nil {
		if op.Action == ActIssued || op.Action == ActRestored || op.Action == ActRenewed ||
			op.Action == ActProgress {
			return &wire.Error{
				Code:    wire.CodeTurnNotActive,
				Field:   "lease.step_id",
				Message: fmt.Sprintf("Turn %s is not active in run %s.", l.StepID, t.State.Run()),
				Hint:    "git agentxchain status",
			}
		}
		return nil
	}
	old := run.TurnLease(turn)
	switch op.Action {
	case ActIssued, ActRestored:
		return op.passes(t, turn, old)
	case ActRenewed:
		if old.String("token") != l.FencingToken.Token {
			return wire.InvalidArgument("lease.fencing_token", "The lease of turn %s has another token.", turn.TurnID)
		}
		return op.extends(turn)
	case ActProgress:
		switch {
		case op.Progress == nil || op.Progress.Len() == 0:
			return wire.InvalidArgument("progress", "There is no progress to record.")
		case len(ojson.Compact(op.Progress)) > maxProgressBytes:
			return wire.InvalidArgument("progress", "Progress of more than %d bytes is not recorded.",
				maxProgressBytes)
		}
	}
	return nil
}

// passes makes the turn change hands.
func (op *RecordLease) passes(t *change.Draft, turn *run.Turn, old *ojson.Object) *wire.Error {
	l := op.Lease
	if t.State.Status != wire.StatusActive {
		return blockedOrPending(t.State, "lease turn "+turn.TurnID)
	}
	if !turn.Dispatching() || turn.Status == wire.TurnAssigned {
		return &wire.Error{Code: wire.CodeInvalidStateTransition, Field: "status", Hint: "git agentxchain status",
			Message: fmt.Sprintf("Turn %s is %s; only a dispatched turn is leased.", turn.TurnID, turn.Status)}
	}
	issued, _ := old.Int("issued_at_ms")
	if l.FencingToken.Token == old.String("token") || l.FencingToken.IssuedAtMS <= int64(issued) {
		return &wire.Error{
			Code:  wire.CodeInvalidArgument,
			Field: "lease.fencing_token",
			Message: fmt.Sprintf("The fencing token of turn %s must be another one than %s, and a later one.",
				turn.TurnID, wire.OrNone(old.String("token"))),
		}
	}
	if op.Action == ActIssued && turn.Status != wire.TurnDispatched {
		// Another runner begins; what the previous one did is unknown. One turn_dispatched per attempt
		// (docs/compatibility.md#where-we-differ-on-purpose row 8).
		turn.Dispatch(t.Env.Time())
		turn.StartedAt = t.Env.Time()
	}
	if at, err := wire.ParseTime(turn.DeadlineAt); op.Action == ActIssued &&
		(err != nil || !at.After(t.Env.Now)) {
		turn.DeadlineAt = wire.FormatTime(limits.TurnDeadline(t.Config, t.Env.Now))
	}
	turn.Extra.Set(run.LeaseMember, ojson.NewObject("lease_id", l.LeaseID, "token", l.FencingToken.Token,
		"issued_at_ms", int(l.FencingToken.IssuedAtMS),
		"epoch", l.Epoch(), "runner_id", l.RunnerID, "session_id", l.SessionID))
	return op.extends(turn)
}

// extends moves the turn's deadline to the end of the lease when that is later.
func (op *RecordLease) extends(turn *run.Turn) *wire.Error {
	until := op.Lease.ExpiresAt()
	if at, err := wire.ParseTime(turn.DeadlineAt); err != nil || at.Before(until) {
		turn.DeadlineAt = wire.FormatTime(until)
	}
	return nil
}

func blockedOrPending(s *run.State, what string) *wire.Error {
	switch {
	case s.Status == wire.StatusBlocked:
		return run.BlockedError(s, what)
	case run.PendingGate(s) != "":
		return run.PendingError(s, what)
	}
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   "status",
		Message: fmt.Sprintf("The run is %s; cannot %s.", s.Status, what),
		Hint:    "git agentxchain status",
	}
}

// payload returns the payload of the row.
func (op *RecordLease) payload(t *change.Draft, turn *run.Turn) *ojson.Object {
	p := ojson.NewObject("action", op.Action)
	if op.Lease != nil {
		p.Set("lease", op.Lease.Object())
	}
	if r := op.recovery(t, turn); r != nil {
		p.Set("recovery", r)
	}
	if op.Reason != "" {
		p.Set("reason", op.Reason)
	}
	return p
}

// Ends records that a lease ended with its turn or attempt; nil for an operation without a lease.
func Ends(t *change.Draft, l *run.Lease, action string, turn *run.Turn) {
	if l == nil || l.Check() != nil || l.RunID != t.State.Run() || l.StepID != turn.TurnID {
		return
	}
	op := &RecordLease{Action: action, Lease: l}
	t.Event(run.EventLease, turn, objectPairs(op.payload(t, turn))...)
}

// recovery returns the strict RecoveryEvent of the action, nil for an action that recovers nothing
// (docs/leases.md).
func (op *RecordLease) recovery(t *change.Draft, turn *run.Turn) *ojson.Object {
	kind, step := "", ""
	switch op.Action {
	case ActStarted:
		kind = "orchestrator_started"
	case ActReloaded:
		kind = "state_reloaded"
	case ActRestored:
		kind, step = "lease_restored", "leased"
	case ActExpired, ActCancelled, ActRejected:
		kind, step = "step_requeued", "ready"
	case ActRefused:
		kind = "lease_rejected"
	case ActCancelAsked:
		kind = "cancellation_requested"
	case ActCancelAcked:
		kind, step = "cancellation_acknowledged", "cancelled"
	default:
		return nil
	}
	details := ojson.NewObject("operation", op.Action)
	if op.Lease != nil {
		details.Set("turn_id", op.Lease.StepID)
		details.Set("lease_id", op.Lease.LeaseID)
		details.Set("runner_id", op.Lease.RunnerID)
		details.Set("session_id", op.Lease.SessionID)
	}
	if turn != nil {
		details.Set("attempt", turn.Attempt)
	}
	if op.Reason != "" {
		details.Set("reason", op.Reason)
	}
	for k, v := range op.Details.All() {
		if !details.Has(k) {
			details.Set(k, v)
		}
	}
	runID := t.State.Run()
	r := ojson.NewObject("event_id", t.Env.ID("rec"), "run_id", runID, "plan_id", run.LeasePlanPrefix+runID)
	if op.Lease != nil {
		r.Set("step_id", op.Lease.StepID)
	}
	r.Set("kind", kind)
	r.Set("occurred_at_ms", int(t.Env.Now.UnixMilli()))
	r.Set("actor", run.LeaseIssuer)
	r.Set("details", sortedObject(details))
	r.Set("contract_version", recoveryVersion)
	r.Set("run_state", runLifecycle(t.State.Status))
	if step != "" {
		r.Set("step_state", step)
	}
	if op.Action == ActRefused {
		r.Set("lease_rejection_reason", op.Rejection)
	}
	return r
}

// runLifecycle returns a run's status as a RunLifecycleState; a block counts as a pause while leases are served
// (docs/monarchic-export.md#kinds).
func runLifecycle(s wire.Status) string {
	switch s {
	case wire.StatusIdle:
		return "pending"
	case wire.StatusPaused, wire.StatusBlocked:
		return "paused"
	case wire.StatusCompleted:
		return "complete"
	case wire.StatusFailed:
		return "failed"
	}
	return recoveryRunExecuting
}

// RejectionReasons returns the eight reasons in their published order.
func RejectionReasons() []string {
	return []string{run.RejectStaleToken, run.RejectExpired, run.RejectSession, run.RejectUnknown, run.RejectTerminal,
		run.RejectNotExecutable, run.RejectDependency, run.RejectSuperseded}
}

// sortedObject returns o with its members in byte order: a free-form map of the strict family.
func sortedObject(o *ojson.Object) *ojson.Object {
	keys := make([]string, 0, o.Len())
	for k := range o.All() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := &ojson.Object{}
	for _, k := range keys {
		out.Set(k, o.Value(k))
	}
	return out
}

func objectPairs(o *ojson.Object) []any {
	var out []any
	for k, v := range o.All() {
		out = append(out, k, v)
	}
	return out
}

// End returns when a lease that begins now ends: after ttl, or at the turn's deadline when ttl is 0, but never
// after the run's own time limit (docs/leases.md#the-calls).
func End(cfg *config.Config, s *run.State, turn *run.Turn, now time.Time, ttl time.Duration) time.Time {
	until := now.Add(ttl)
	if ttl <= 0 {
		until = limits.TurnDeadline(cfg, now)
		if at, err := wire.ParseTime(turn.DeadlineAt); err == nil && at.After(now) {
			until = at
		}
	}
	for _, b := range limits.TimeoutBudgets(cfg, s, turn, now) {
		if b.Scope == "run" && b.Action != config.TimeoutWarn && b.Deadline.Before(until) {
			until = b.Deadline
		}
	}
	return until
}
