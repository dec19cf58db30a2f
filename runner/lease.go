// Leases of turns: looking at one, and judging who asks under it (docs/leases.md).

package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Lease is the right of one runner to carry out one turn, for a time.
type Lease = run.Lease

// LeaseRef is how a runner names its lease (docs/monarchic.md#types).
type LeaseRef struct{ LeaseID, FencingToken, RunID, PlanID, StepID, TaskID string }

// RefOf names a lease.
func RefOf(l *Lease) LeaseRef {
	return LeaseRef{LeaseID: l.LeaseID, FencingToken: l.FencingToken.Token, RunID: l.RunID, PlanID: l.PlanID, StepID: l.StepID, TaskID: l.TaskID}
}

// LeaseHolder is who asks for something under a lease.
type LeaseHolder struct {
	Ref       LeaseRef
	RunnerID  string
	SessionID string
}

// seenLease is a lease as its ref held it when it was looked at.
type seenLease struct {
	rec   *gitstore.LeaseRecord
	lease *Lease
}

// lookLease reads the lease of a turn; nil when there is none. A document that is no
// lease is an error: nobody may act on a turn whose holder is not known.
func (r *Runner) lookLease(ctx context.Context, runID, turn string) (*seenLease, error) {
	rec, err := gitstore.ReadLease(ctx, r.store.Repository(), runID, turn)
	if err != nil || rec == nil {
		return nil, err
	}
	l, err := run.DecodeLease(rec.Data)
	if err == nil && (l.RunID != runID || l.StepID != turn) {
		err = fmt.Errorf("it is of turn %q in run %q", l.StepID, l.RunID)
	}
	if err != nil {
		return nil, &wire.Error{Code: wire.CodeInvalidState, Field: rec.Ref, Message: fmt.Sprintf("What %s holds is not the lease of that turn: %v.", rec.Ref, err),
			Hint: "git log -p " + rec.Ref + " shows what it was; to give the turn free: git update-ref -d " + rec.Ref}
	}
	if l, err = r.inTheRun(ctx, l); err != nil {
		return nil, err
	}
	return &seenLease{rec, l}, nil
}

// inTheRun is a lease as the run knows it: a ref that was set back to before the end of
// a lease brings nobody's right back.
func (r *Runner) inTheRun(ctx context.Context, l *Lease) (*Lease, error) {
	if !l.Open() {
		return l, nil
	}
	rows, err := r.store.TailRows(ctx, wire.LedgerEvents, 1, func(row *ojson.Object) bool {
		return row.String("run_id") == l.RunID && protocol.LeaseRow(row, l.StepID)
	})
	if err != nil || len(rows) == 0 {
		return l, err
	}
	if told := protocol.LeaseSetBack(l, rows[0].Row); told != nil {
		return told, nil
	}
	return l, nil
}

// leased returns the lease of an active turn, nil when it was never leased: the turn
// itself says so, nothing is read then.
func (r *Runner) leased(ctx context.Context, runID string, turn *run.Turn) (*seenLease, error) {
	if turn == nil || r.store == nil || run.TurnLease(turn) == nil {
		return nil, nil
	}
	return r.lookLease(ctx, runID, turn.TurnID)
}

// LeaseOf is the lease of an active turn, nil when it was never leased.
func (r *Runner) LeaseOf(ctx context.Context, v *View, turn *Turn) (*Lease, error) {
	seen, err := r.leased(ctx, v.State.Run(), turn)
	if err != nil || seen == nil {
		return nil, err
	}
	return seen.lease, nil
}

// Unleased refuses, with lease_refused, to act on a turn that is under somebody's
// lease.
func (r *Runner) Unleased(ctx context.Context, v *View, turn *Turn) error {
	seen, err := r.leased(ctx, v.State.Run(), turn)
	if err != nil || seen == nil || !seen.lease.Live(r.Now()) {
		return err
	}
	return underLease(seen.lease)
}

// underLease is the refusal of somebody who has no lease.
func underLease(l *Lease) *wire.Error {
	return &wire.Error{Code: run.CodeLeaseRefused, Field: "turn_id", Details: leaseDetails(l, run.RejectSession),
		Message: fmt.Sprintf("Turn %s is leased to runner %s until %s.", l.StepID, shown(l.RunnerID), wire.FormatTime(l.ExpiresAt())),
		Hint:    "wait for its result; to take the turn away from it: git agentxchain monarchic lease revoke " + l.StepID}
}

func leaseDetails(l *Lease, reason string) *ojson.Object {
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

// shown makes a name of a runner fit for a sentence.
func shown(name string) string {
	name = text.Brief(name, 80)
	if name == "" {
		return "(unnamed)"
	}
	return name
}

// LeaseRefusal is the reason a lease was refused for, "" for any other error.
func LeaseRefusal(err error) string {
	var refusal *wire.Error
	if errors.As(err, &refusal) && refusal.Code == run.CodeLeaseRefused {
		return refusal.Details.String("lease_rejection_reason")
	}
	return ""
}

func refuseLease(l *Lease, h LeaseHolder, reason string) error {
	var say string
	switch reason {
	case run.RejectStaleToken:
		say = "the turn has changed hands since; the token is an old one"
	case run.RejectExpired:
		say = "its time is up"
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
	e := &wire.Error{Code: run.CodeLeaseRefused, Field: "lease", Details: leaseDetails(l, reason),
		Message: fmt.Sprintf("Lease %s of runner %s does not hold: %s.", shown(h.Ref.LeaseID), shown(h.RunnerID), say), Hint: "acquire another lease"}
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

// What judging a lease may leave out.
type judgement int

const (
	judgeAll     judgement = iota
	judgeResume            // the session is another one by design
	judgeStopped           // the run need not be active: to give a lease up
)

// judge decides whether h may act under its lease, at the time now. The lease is
// returned as far as there is one, also with a refusal. Order: what does not exist,
// what is over, what has changed hands, who asks, what the clock says, what the run
// says.
func (r *Runner) judge(ctx context.Context, s *State, h LeaseHolder, how judgement, now time.Time) (*seenLease, error) {
	runID, id := s.Run(), h.Ref.StepID
	turn, active := s.ActiveTurns.Get(id)
	if runID == "" || h.Ref.RunID != runID || h.Ref.TaskID != id || h.Ref.PlanID != "" && h.Ref.PlanID != "plan-"+runID {
		return nil, refuseLease(nil, h, run.RejectUnknown)
	}
	if !active {
		reason, err := r.ended(ctx, s, id)
		if err != nil {
			return nil, err
		}
		return nil, refuseLease(nil, h, reason)
	}
	seen, err := r.leased(ctx, runID, turn)
	if err != nil {
		return nil, err
	}
	if seen == nil {
		return nil, refuseLease(nil, h, run.RejectUnknown)
	}
	l := seen.lease
	no := func(reason string) (*seenLease, error) { return seen, refuseLease(l, h, reason) }
	switch {
	case h.Ref.FencingToken != l.FencingToken.Token && older(h.Ref.FencingToken, l):
		return no(run.RejectStaleToken)
	case h.Ref.FencingToken != l.FencingToken.Token || h.Ref.LeaseID != l.LeaseID:
		return no(run.RejectUnknown)
	case h.RunnerID != l.RunnerID || how != judgeResume && h.SessionID != l.SessionID:
		return no(run.RejectSession)
	case l.Status == run.LeaseExpired:
		return no(run.RejectExpired)
	case !l.Open():
		return no(run.RejectSuperseded)
	case !l.Live(now):
		return no(run.RejectExpired)
	}
	switch {
	case how == judgeStopped || s.Status == StatusActive:
		return seen, nil
	case s.PendingPhaseTransition != nil || s.PendingRunCompletion != nil:
		return no(run.RejectDependency)
	}
	return no(run.RejectNotExecutable)
}

// older reports whether a token is one of the same turn from before l's.
func older(token string, l *Lease) bool {
	n, ok := strings.CutPrefix(token, "fence-"+l.RunID+"-"+l.StepID+"-")
	epoch, err := strconv.Atoi(n)
	return ok && err == nil && epoch > 0 && epoch < l.Epoch()
}

// ended says what became of a turn that is not active.
func (r *Runner) ended(ctx context.Context, s *State, id string) (string, error) {
	for _, t := range s.ActiveTurns.All() {
		if t.ReissuedFrom == id {
			return run.RejectSuperseded, nil
		}
	}
	if id == "" {
		return run.RejectUnknown, nil
	}
	row, err := r.store.LastRow(ctx, wire.LedgerHistory, "turn_id", id)
	if err != nil {
		return "", err
	}
	if row != nil {
		return run.RejectTerminal, nil
	}
	// A turn that was given up without a row of its own still had its lease.
	if rec, err := gitstore.ReadLease(ctx, r.store.Repository(), s.Run(), id); err == nil && rec != nil {
		return run.RejectTerminal, nil
	}
	return run.RejectUnknown, nil
}

// LeaseInfo is a lease for people and lists.
type LeaseInfo struct {
	Lease   *Lease
	Ref     string
	Op      OpID
	At      time.Time // of its last change
	Subject string
	Live    bool // held at this moment
	Turn    bool // of a turn that is active
}

// Leases lists the leases of a run, of the present one for "". problems are refs that
// are no leases.
func (r *Runner) Leases(ctx context.Context, runID string) (list []LeaseInfo, problems []error, err error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, nil, err
	}
	if runID == "" {
		runID = v.State.Run()
	}
	if runID == "" {
		return nil, nil, nil
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	recs, problems, err := gitstore.Leases(ctx, r.store.Repository(), runID)
	if err != nil {
		return nil, nil, err
	}
	now := r.Now()
	for i := range recs {
		l, err := run.DecodeLease(recs[i].Data)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", recs[i].Ref, err))
			continue
		}
		_, active := v.State.ActiveTurns.Get(l.StepID)
		if active = active && runID == v.State.Run(); active {
			if l, err = r.inTheRun(ctx, l); err != nil {
				return nil, nil, err
			}
		}
		list = append(list, LeaseInfo{Lease: l, Ref: recs[i].Ref, Op: recs[i].Op, At: recs[i].At, Subject: recs[i].Subject, Live: active && l.Live(now), Turn: active})
	}
	return list, problems, nil
}

// LeaseHistory is what the lease of a turn has been, newest first, at most limit.
func (r *Runner) LeaseHistory(ctx context.Context, runID, turn string, limit int) ([]LeaseInfo, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	rec, err := gitstore.ReadLease(ctx, r.store.Repository(), runID, turn)
	if err != nil || rec == nil {
		return nil, err
	}
	recs, err := gitstore.LeaseHistory(ctx, r.store.Repository(), rec, limit)
	if err != nil {
		return nil, err
	}
	out := make([]LeaseInfo, 0, len(recs))
	for i := range recs {
		l, err := run.DecodeLease(recs[i].Data)
		if err != nil {
			return out, err
		}
		out = append(out, LeaseInfo{Lease: l, Ref: recs[i].Ref, Op: recs[i].Op, At: recs[i].At, Subject: recs[i].Subject})
	}
	return out, nil
}
