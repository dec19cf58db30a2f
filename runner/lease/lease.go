// Reading the lease of a turn, and judging requests under it (docs/leases.md).

package lease

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lease"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Ref is a runner's name for its lease (docs/monarchic.md#types).
type Ref struct{ LeaseID, FencingToken, RunID, PlanID, StepID, TaskID string }

// RefOf returns the name of a lease.
func RefOf(l *run.Lease) Ref {
	return Ref{
		LeaseID:      l.LeaseID,
		FencingToken: l.FencingToken.Token,
		RunID:        l.RunID,
		PlanID:       l.PlanID,
		StepID:       l.StepID,
		TaskID:       l.TaskID,
	}
}

// Holder is the sender of a request under a lease.
type Holder struct {
	Ref       Ref
	RunnerID  string
	SessionID string
}

// Seen is a lease as its ref held it when it was read.
type Seen struct {
	Rec   *lease.Record
	Lease *run.Lease
}

// Look reads the lease of a turn; nil when there is none. A document that cannot
// be decoded is an error: no runner may act on a turn whose holder is not known.
func Look(ctx context.Context, s *gitstore.Store, runID, turn string) (*Seen, error) {
	rec, err := lease.Read(ctx, s.Repository(), runID, turn)
	if err != nil || rec == nil {
		return nil, err
	}
	l, err := run.DecodeLease(rec.Data)
	if err == nil && (l.RunID != runID || l.StepID != turn) {
		err = fmt.Errorf("it is of turn %q in run %q", l.StepID, l.RunID)
	}
	if err != nil {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidState,
			Field:   rec.Ref,
			Message: fmt.Sprintf("What %s holds is not the lease of that turn: %v.", rec.Ref, err),
			Hint: "git log -p " + rec.Ref + " shows what it was; to release the turn: git update-ref -d " +
				rec.Ref,
		}
	}
	if l, err = inTheRun(ctx, s, l); err != nil {
		return nil, err
	}
	return &Seen{rec, l}, nil
}

// inTheRun returns a lease as the run knows it: a ref that was set back to before the end of a
// lease restores no right.
func inTheRun(ctx context.Context, s *gitstore.Store, l *run.Lease) (*run.Lease, error) {
	if !l.Open() {
		return l, nil
	}
	rows, err := s.TailRows(ctx, wire.LedgerEvents, 1, func(row *ojson.Object) bool {
		return row.String("run_id") == l.RunID && leases.Tells(row, l.StepID)
	})
	if err != nil || len(rows) == 0 {
		return l, err
	}
	if told := leases.SetBack(l, rows[0].Row); told != nil {
		return told, nil
	}
	return l, nil
}

// Of returns the lease of an active turn, nil when it was never leased: the turn itself says so,
// and nothing is read.
func Of(ctx context.Context, s *gitstore.Store, runID string, turn *run.Turn) (*Seen, error) {
	if turn == nil || s == nil || run.TurnLease(turn) == nil {
		return nil, nil
	}
	return Look(ctx, s, runID, turn.TurnID)
}

// RefuseOthers returns the refusal of an operation without a lease on a turn that is leased under l.
func RefuseOthers(l *run.Lease) *wire.Error {
	return &wire.Error{
		Code:    run.CodeLeaseRefused,
		Field:   "turn_id",
		Details: details(l, run.RejectSession),
		Message: fmt.Sprintf("Turn %s is leased to runner %s until %s.", l.StepID, Shown(l.RunnerID),
			wire.FormatTime(l.ExpiresAt())),
		Hint: "wait for its result; to take the turn away from it: git agentxchain monarchic lease revoke " + l.StepID,
	}
}

func details(l *run.Lease, reason string) *ojson.Object {
	o := ojson.NewObject("lease_rejection_reason", reason)
	if l != nil {
		o.Set("turn_id", l.StepID)
		o.Set("lease_id", l.LeaseID)
		o.Set("runner_id", l.RunnerID)
		o.Set("expires_at", wire.FormatTime(l.ExpiresAt()))
		o.Set("lease_status", l.Status)
		o.Set("current_fencing_token", l.FencingToken.Token)
	}
	return o
}

// Shown makes a name of a runner fit for a sentence.
func Shown(name string) string {
	name = text.Brief(name, 80)
	if name == "" {
		return "(unnamed)"
	}
	return name
}

// Refusal returns the reason for which a lease was refused, "" for any other error.
func Refusal(err error) string {
	var refusal *wire.Error
	if errors.As(err, &refusal) && refusal.Code == run.CodeLeaseRefused {
		return refusal.Details.String("lease_rejection_reason")
	}
	return ""
}

// Refuse returns the refusal of a holder whose lease does not hold, for one of the reasons of protocol/run.
func Refuse(l *run.Lease, h Holder, reason string) error {
	var say string
	switch reason {
	case run.RejectStaleToken:
		say = "the turn has changed hands since; the token is an old one"
	case run.RejectExpired:
		say = "it has expired"
	case run.RejectSession:
		say = "another runner or another session holds it"
	case run.RejectUnknown:
		say = "there is no such lease"
	case run.RejectTerminal:
		say = "the turn is over"
	case run.RejectNotExecutable:
		say = "the run is not active"
	case run.RejectDependency:
		say = "the run waits for an approval"
	case run.RejectSuperseded:
		say = "it was taken back, or the turn was given to another attempt"
	}
	e := &wire.Error{
		Code:    run.CodeLeaseRefused,
		Field:   "lease",
		Details: details(l, reason),
		Message: fmt.Sprintf("Lease %s of runner %s is not valid: %s.", Shown(h.Ref.LeaseID), Shown(h.RunnerID), say),
		Hint:    "acquire another lease",
	}
	if !e.Details.Has("turn_id") {
		e.Details.Set("turn_id", h.Ref.StepID)
	}
	switch reason {
	case run.RejectDependency:
		e.Hint = "git agentxchain approve"
	case run.RejectNotExecutable:
		e.Hint = "git agentxchain status"
	case run.RejectSession:
		e.Hint = "after a restart of the runner: ResumeLease from the new session"
	}
	return e
}

// Judgement says what judging a lease may leave out.
type Judgement int

const (
	JudgeAll     Judgement = iota
	JudgeResume            // the session differs by design
	JudgeStopped           // the run need not be active: to give up a lease
)

// Judge decides whether h may act under its lease, at the time now. It returns the lease if there
// is one, also with a refusal. Order: what does not exist, what is over, what has changed hands,
// who asks, what the clock says, what the run says.
func Judge(
	ctx context.Context,
	s *gitstore.Store,
	state *run.State,
	h Holder,
	how Judgement,
	now time.Time,
) (*Seen, error) {
	runID, id := state.Run(), h.Ref.StepID
	turn, active := state.ActiveTurns.Get(id)
	if runID == "" || h.Ref.RunID != runID || h.Ref.TaskID != id ||
		h.Ref.PlanID != "" && h.Ref.PlanID != "plan-"+runID {
		return nil, Refuse(nil, h, run.RejectUnknown)
	}
	if !active {
		reason, err := ended(ctx, s, state, id)
		if err != nil {
			return nil, err
		}
		return nil, Refuse(nil, h, reason)
	}
	seen, err := Of(ctx, s, runID, turn)
	if err != nil {
		return nil, err
	}
	if seen == nil {
		return nil, Refuse(nil, h, run.RejectUnknown)
	}
	l := seen.Lease
	no := func(reason string) (*Seen, error) { return seen, Refuse(l, h, reason) }
	switch {
	case h.Ref.FencingToken != l.FencingToken.Token && older(h.Ref.FencingToken, l):
		return no(run.RejectStaleToken)
	case h.Ref.FencingToken != l.FencingToken.Token || h.Ref.LeaseID != l.LeaseID:
		return no(run.RejectUnknown)
	case h.RunnerID != l.RunnerID || how != JudgeResume && h.SessionID != l.SessionID:
		return no(run.RejectSession)
	case l.Status == run.LeaseExpired:
		return no(run.RejectExpired)
	case !l.Open():
		return no(run.RejectSuperseded)
	case !l.Live(now):
		return no(run.RejectExpired)
	}
	switch {
	case how == JudgeStopped || state.Status == wire.StatusActive:
		return seen, nil
	case run.HasPending(state):
		return no(run.RejectDependency)
	}
	return no(run.RejectNotExecutable)
}

// older reports whether a token belongs to the same turn and is older than l's.
func older(token string, l *run.Lease) bool {
	n, ok := strings.CutPrefix(token, "fence-"+l.RunID+"-"+l.StepID+"-")
	epoch, err := strconv.Atoi(n)
	return ok && err == nil && epoch > 0 && epoch < l.Epoch()
}

// ended says how a turn that is not active ended.
func ended(ctx context.Context, s *gitstore.Store, state *run.State, id string) (string, error) {
	for _, t := range state.ActiveTurns.All() {
		if t.ReissuedFrom == id {
			return run.RejectSuperseded, nil
		}
	}
	if id == "" {
		return run.RejectUnknown, nil
	}
	row, err := s.LastRow(ctx, wire.LedgerHistory, "turn_id", id)
	if err != nil {
		return "", err
	}
	if row != nil {
		return run.RejectTerminal, nil
	}
	// A turn that was given up without a row of its own still had its lease.
	if rec, err := lease.Read(ctx, s.Repository(), state.Run(), id); err == nil && rec != nil {
		return run.RejectTerminal, nil
	}
	return run.RejectUnknown, nil
}
