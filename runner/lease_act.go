// Operations on leases: issue, activate, renew, resume, release, expire, revoke, cancellation and
// progress (docs/leases.md).

package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	stored "github.com/git-agentxchain/git-agentxchain/gitstore/lease"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// Leased is the outcome of every operation on a lease. Lease is the turn's newest lease, also with
// a refusal; nil without one.
type Leased struct {
	Done
	Lease *Lease
	Turn  *Turn
}

// IssueOptions says who gets which turn.
type IssueOptions struct {
	TurnID    string
	RunnerID  string
	SessionID string
	TTL       time.Duration // 0: until the turn's deadline
}

// CodeTurnBusy means that a process of this machine carries out the turn.
const CodeTurnBusy = "turn_busy"

// IssueLease gives an active, dispatched turn to a runner. It first records an expired lease as
// expired and dispatches the turn again. Errors: lease_refused when the turn is leased, turn_busy
// when a process of this machine is carrying it out, turn_not_active, run_blocked,
// awaiting_approval.
func (r *Runner) IssueLease(ctx context.Context, opt IssueOptions) (*Leased, error) {
	out := &Leased{}
	var issued *Lease
	h := lease.Holder{RunnerID: opt.RunnerID, SessionID: opt.SessionID, Ref: lease.Ref{StepID: opt.TurnID}}
	expire := func(ctx context.Context, c *change) (*plan, error) {
		seen, err := c.free(ctx, opt.TurnID)
		if err != nil || seen == nil || !seen.Lease.Open() {
			return nil, err
		}
		return &plan{op: c.ends(seen, seen.Lease.With(run.LeaseExpired),
			&leases.RecordLease{Action: leases.ActExpired})}, nil
	}
	issue := func(ctx context.Context, c *change) (*plan, error) {
		seen, err := c.free(ctx, opt.TurnID)
		if err != nil {
			return nil, err
		}
		turn, ok := c.view.State.ActiveTurns.Get(opt.TurnID)
		if !ok {
			return nil, &wire.Error{
				Code:    wire.CodeTurnNotActive,
				Field:   "turn_id",
				Message: "Turn " + text.Brief(opt.TurnID, 80) + " is not active.",
				Hint:    "git agentxchain status",
			}
		}
		c.lease = &lease.Hold{Holder: h, Turn: opt.TurnID}
		epoch, after := nextEpoch(turn), lastIssued(turn)
		if seen != nil {
			c.lease.Rec, c.lease.Lease = seen.Rec, seen.Lease
			epoch, after = max(epoch, seen.Lease.Epoch()+1), max(after, seen.Lease.FencingToken.IssuedAtMS)
		}
		now := c.env.Now
		issued = run.NewLease(c.view.State.Run(), opt.TurnID, opt.RunnerID, opt.SessionID, epoch, now, after,
			leases.End(c.view.Config, c.view.State, turn, now, opt.TTL))
		c.lease.Holder.Ref = lease.RefOf(issued)
		c.lease.Next = func(t *protocol.Transition) *Lease { return leaseIf(t, issued) }
		return &plan{op: &leases.RecordLease{Action: leases.ActIssued, Lease: issued}}, nil
	}
	done, err := r.do(ctx, "lease", expire, issue)
	out.take(done, issued, err)
	if err == nil {
		r.pruneLeases(ctx)
	}
	return out, err
}

// take fills in the outcome of an operation that left the lease l.
func (out *Leased) take(done *Done, l *Lease, err error) {
	out.Done = *done
	if err != nil {
		return
	}
	out.Lease = l
	if l != nil && done.State != nil {
		out.Turn, _ = done.State.ActiveTurns.Get(l.StepID)
	}
}

// leaseIf returns l when the transition records a lease, nil for another one.
func leaseIf(t *protocol.Transition, l *Lease) *Lease {
	if _, ok := t.Result.(*leases.LeaseResult); ok {
		return l
	}
	return nil
}

func nextEpoch(turn *run.Turn) int {
	last, _ := run.TurnLease(turn).Int("epoch")
	return max(turn.Attempt, last+1, 1)
}

func lastIssued(turn *run.Turn) int64 {
	ms, _ := run.TurnLease(turn).Int("issued_at_ms")
	return int64(ms)
}

// free returns the last lease of an unleased turn; it refuses a leased one, or one that a process
// of this machine carries out.
func (c *change) free(ctx context.Context, turnID string) (*lease.Seen, error) {
	if !c.view.State.ActiveTurns.Has(turnID) {
		return nil, nil
	}
	// The ref counts, not what the turn says about it.
	seen, err := lease.Look(ctx, c.r.store, c.view.State.Run(), turnID)
	if err != nil {
		return nil, err
	}
	if seen != nil && seen.Lease.Live(c.env.Now) {
		return nil, lease.RefuseOthers(seen.Lease)
	}
	if root, err := os.OpenRoot(c.r.store.Dir()); err == nil {
		held, _ := turnmark.List(root)
		_ = root.Close()
		if slices.Contains(held, turnID) {
			return nil, &wire.Error{
				Code:    CodeTurnBusy,
				Field:   "turn_id",
				Message: "A process of this machine is at work on turn " + turnID + ".",
				Hint:    "wait until it is done: git agentxchain status",
			}
		}
	}
	return seen, nil
}

// ends moves a lease to its end and records it.
func (c *change) ends(seen *lease.Seen, next *Lease, op *leases.RecordLease) protocol.Operation {
	c.lease = &lease.Hold{
		Holder: lease.Holder{
			Ref:       lease.RefOf(seen.Lease),
			RunnerID:  seen.Lease.RunnerID,
			SessionID: seen.Lease.SessionID,
		},
		Turn:  seen.Lease.StepID,
		Rec:   seen.Rec,
		Lease: seen.Lease,
		Next: func(t *protocol.Transition) *Lease {
			return leaseIf(t, next)
		},
	}
	op.Lease = next
	return op
}

// under runs one operation under a held lease. make takes the lease and returns the lease after it
// (nil: unchanged) and the operation.
func (r *Runner) under(
	ctx context.Context, h lease.Holder, how lease.Judgement,
	make func(c *change, l *Lease) (*Lease, protocol.Operation, error),
) (*Leased, error) {
	out := &Leased{}
	var after *Lease
	done, err := r.do(ctx, "lease", func(ctx context.Context, c *change) (*plan, error) {
		seen, err := lease.Judge(ctx, r.store, c.view.State, h, how, c.env.Now)
		if seen != nil {
			out.Lease = seen.Lease
		}
		if err != nil {
			return nil, err
		}
		next, op, err := make(c, seen.Lease)
		if err != nil {
			return nil, err
		}
		after = seen.Lease
		c.lease = &lease.Hold{Holder: h, Turn: h.Ref.StepID, Rec: seen.Rec, Lease: seen.Lease}
		if next != nil {
			after = next
			c.lease.Next = func(t *protocol.Transition) *Lease {
				switch t.Result.(type) {
				case *leases.LeaseResult, *attempt.AdvanceResult:
					return next
				}
				return nil
			}
		}
		return &plan{op: op}, nil
	})
	last := out.Lease
	out.take(done, after, err)
	if out.Lease == nil {
		out.Lease = last
	}
	return out, err
}

// CheckLease judges a lease without changing anything.
func (r *Runner) CheckLease(ctx context.Context, h lease.Holder) (*Leased, error) {
	out := &Leased{}
	v, err := r.View(ctx)
	if err != nil {
		return out, out.settle(err)
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	seen, err := lease.Judge(ctx, r.store, v.State, h, lease.JudgeAll, r.Now())
	if seen != nil {
		out.Lease = seen.Lease
	}
	out.Turn, _ = v.State.ActiveTurns.Get(h.Ref.StepID)
	out.State, out.Run = v.State, v.Run
	return out, out.settle(err)
}

// ActivateLease records that the holder has begun: the lease is active, the turn runs. A second
// call does nothing.
func (r *Runner) ActivateLease(ctx context.Context, h lease.Holder) (*Leased, error) {
	return r.under(ctx, h, lease.JudgeAll, func(c *change, l *Lease) (*Lease, protocol.Operation, error) {
		turn := c.target(h.Ref.StepID)
		if l.Status == run.LeaseActive && turn != nil && turn.Status == wire.TurnRunning {
			return nil, nil, nil
		}
		return l.With(run.LeaseActive), &attempt.AdvanceTurn{
			TurnID: h.Ref.StepID,
			Status: wire.TurnRunning,
			Stream: "request",
		}, nil
	})
}

// RenewLease gives the holder more time: ttl from now, or its first duration when ttl is 0, never
// beyond the time of the run and never less than it has. The turn's deadline moves along when the
// lease would outlive it.
func (r *Runner) RenewLease(ctx context.Context, h lease.Holder, ttl time.Duration) (*Leased, error) {
	out := &Leased{}
	v, err := r.View(ctx)
	if err != nil {
		return out, out.settle(err)
	}
	longer := func(cfg *Config, s *State, l *Lease, now time.Time) (*Lease, bool, error) {
		turn, _ := s.ActiveTurns.Get(l.StepID)
		grant := ttl
		if grant <= 0 {
			grant = time.Duration(max(1, l.ExpiresAtMS-l.IssuedAtMS)) * time.Millisecond
		}
		until := leases.End(cfg, s, turn, now, grant)
		if !until.After(now) {
			return nil, false, lease.Refuse(l, h, run.RejectExpired)
		}
		next := *l
		next.ExpiresAtMS = max(l.ExpiresAtMS, until.UnixMilli())
		at, perr := wire.ParseTime(turn.DeadlineAt)
		return &next, perr != nil || next.ExpiresAt().After(at), nil
	}
	r.serial.Lock()
	now := r.Now()
	seen, err := lease.Judge(ctx, r.store, v.State, h, lease.JudgeAll, now)
	var next *Lease
	var recorded bool
	if err == nil {
		out.Lease = seen.Lease
		next, recorded, err = longer(v.Config, v.State, seen.Lease, now)
	} else if seen != nil {
		out.Lease = seen.Lease
	}
	if err == nil && !recorded {
		var oid object.OID
		if oid, err = lease.Write(ctx, r.store, seen.Rec, next, r.Now()); err == nil {
			err = stored.Move(ctx, r.store.Repository(),
				[]git.RefUpdate{{Name: seen.Rec.Ref, Old: seen.Rec.Op, New: oid}}, "agentxchain: lease renewed")
		}
		if err == nil {
			out.Lease, out.State, out.Run = next, v.State, v.Run
		}
	}
	r.serial.Unlock()
	if err != nil || !recorded {
		return out, out.settle(err)
	}
	return r.under(ctx, h, lease.JudgeAll, func(c *change, l *Lease) (*Lease, protocol.Operation, error) {
		next, _, err := longer(c.view.Config, c.view.State, l, c.env.Now)
		return next, &leases.RecordLease{Action: leases.ActRenewed, Lease: next}, err
	})
}

// ResumeLease gives the turn to another session of the same runner, with a new fencing token: what
// the former session still sends is refused from then on. session "" keeps the session of the
// holder.
func (r *Runner) ResumeLease(ctx context.Context, h lease.Holder, session string, ttl time.Duration) (*Leased, error) {
	return r.under(ctx, h, lease.JudgeResume, func(c *change, l *Lease) (*Lease, protocol.Operation, error) {
		turn := c.target(h.Ref.StepID)
		now := c.env.Now
		until := leases.End(c.view.Config, c.view.State, turn, now, ttl)
		if !until.After(now) {
			return nil, nil, lease.Refuse(l, h, run.RejectExpired)
		}
		next := l.Restore(session, max(nextEpoch(turn), l.Epoch()+1), now, lastIssued(turn), until)
		return next, &leases.RecordLease{Action: leases.ActRestored, Lease: next}, nil
	})
}

// ReleaseLease gives the turn back without a result; it may be acquired again.
func (r *Runner) ReleaseLease(ctx context.Context, h lease.Holder, reason string) (*Leased, error) {
	return r.under(ctx, h, lease.JudgeStopped, func(_ *change, l *Lease) (*Lease, protocol.Operation, error) {
		next := l.With(run.LeaseReleased)
		return next, &leases.RecordLease{Action: leases.ActReleased, Lease: next, Reason: reason}, nil
	})
}

// AskCancel records that a holder was asked to give up its lease.
func (r *Runner) AskCancel(ctx context.Context, h lease.Holder, reason string, force bool) (*Leased, error) {
	return r.under(ctx, h, lease.JudgeStopped, func(c *change, l *Lease) (*Lease, protocol.Operation, error) {
		next := l.Cancelling(reason, c.env.Now)
		return next, &leases.RecordLease{Action: leases.ActCancelAsked, Lease: next, Reason: reason,
			Details: ojson.NewObject("force", force, "requested_at_ms", int(c.env.Now.UnixMilli()))}, nil
	})
}

// AckCancel takes the holder's word that it has stopped: the lease is released, the turn stays with
// the run. It is refused with invalid_state_transition when the holder was not asked to stop.
func (r *Runner) AckCancel(ctx context.Context, h lease.Holder, status, message string) (*Leased, error) {
	return r.under(ctx, h, lease.JudgeStopped, func(c *change, l *Lease) (*Lease, protocol.Operation, error) {
		if _, at := l.Cancellation(); at == 0 && c.view.State.Status == StatusActive {
			return nil, nil, &wire.Error{
				Code:    wire.CodeInvalidStateTransition,
				Field:   "lease",
				Message: fmt.Sprintf("No cancellation of lease %s was requested.", lease.Shown(l.LeaseID)),
				Hint:    "report the outcome of the step, or let the lease expire",
			}
		}
		next := l.With(run.LeaseReleased)
		return next, &leases.RecordLease{
			Action:  leases.ActCancelAcked,
			Lease:   next,
			Details: ojson.NewObject("status", text.Brief(status, 200), "message", text.Brief(message, 1000)),
		}, nil
	})
}

// ReportProgress records a holder's report on its work as an event dispatch_progress with the given
// payload (at most 256 KiB).
func (r *Runner) ReportProgress(ctx context.Context, h lease.Holder, payload *ojson.Object) (*Leased, error) {
	return r.under(ctx, h, lease.JudgeAll, func(_ *change, l *Lease) (*Lease, protocol.Operation, error) {
		return nil, &leases.RecordLease{Action: leases.ActProgress, Lease: l, Progress: payload}, nil
	})
}

// RecordRefusal records a request under a lease that does not hold, with the reason of the refusal.
func (r *Runner) RecordRefusal(ctx context.Context, h lease.Holder, current *Lease, reason, asked string) error {
	_, err := r.do(ctx, "lease", func(_ context.Context, c *change) (*plan, error) {
		if current == nil || current.RunID != c.view.State.Run() {
			return nil, nil
		}
		return &plan{op: &leases.RecordLease{
			Action:    leases.ActRefused,
			Lease:     current,
			Rejection: reason,
			Details: ojson.NewObject("refused_runner_id", text.Brief(h.RunnerID, 200),
				"refused_token", text.Brief(h.Ref.FencingToken, 200), "asked_for", asked),
		}}, nil
	})
	return err
}

// RecordServing records that a server of leases has started and that it found earlier leases.
// Without a run that goes on there is nothing to record.
func (r *Runner) RecordServing(ctx context.Context, found int) error {
	_, err := r.do(ctx, "lease", func(_ context.Context, c *change) (*plan, error) {
		if c.view.State.Run() == "" || c.view.State.Status.Ended() {
			return nil, nil
		}
		op := &leases.RecordLease{Action: leases.ActStarted}
		if found > 0 {
			op.Action, op.Details = leases.ActReloaded, ojson.NewObject("leases", found)
		}
		return &plan{op: op}, nil
	})
	return err
}

// RevokeLease takes a leased turn away from its holder: a person's act, refused inside a dispatched
// turn. What the holder still sends is refused from then on.
func (r *Runner) RevokeLease(ctx context.Context, turnID, reason string) (*Leased, error) {
	out := &Leased{}
	if in := r.InsideTurn(); in != "" {
		err := &wire.Error{
			Code:    wire.CodeInsideTurn,
			Field:   "turn_id",
			Message: "Only a person may revoke a lease; this command runs inside turn " + in + ".",
			Hint:    "run it outside of any agent",
		}
		return out, out.settle(err)
	}
	var after *Lease
	done, err := r.do(ctx, "lease", func(ctx context.Context, c *change) (*plan, error) {
		turn, refusal := run.ResolveTurn(c.view.State, turnID, "monarchic lease revoke")
		if refusal != nil {
			return nil, refusal
		}
		seen, err := lease.Look(ctx, r.store, c.view.State.Run(), turn.TurnID)
		if err != nil {
			return nil, err
		}
		if seen == nil || !seen.Lease.Open() {
			return nil, &wire.Error{
				Code:    wire.CodeNotFound,
				Field:   "turn_id",
				Message: "Turn " + turn.TurnID + " is under no lease.",
				Hint:    "git agentxchain monarchic lease list",
			}
		}
		after = seen.Lease.With(run.LeaseCancelled)
		return &plan{op: c.ends(seen, after, &leases.RecordLease{Action: leases.ActCancelled, Reason: reason})}, nil
	})
	out.take(done, after, err)
	return out, err
}

// ExpireLeases records which leases of active turns have expired and returns them.
func (r *Runner) ExpireLeases(ctx context.Context) ([]*Lease, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	var out []*Lease
	for id, turn := range v.State.ActiveTurns.All() {
		seen, err := lease.Of(ctx, r.store, v.State.Run(), turn)
		if err != nil {
			return out, err
		}
		if seen == nil || !seen.Lease.Open() || seen.Lease.Live(r.Now()) {
			continue
		}
		var ended *Lease
		_, err = r.do(ctx, "lease", func(ctx context.Context, c *change) (*plan, error) {
			seen, err := lease.Look(ctx, r.store, c.view.State.Run(), id)
			if err != nil || seen == nil || !seen.Lease.Open() || seen.Lease.Live(c.env.Now) {
				return nil, err
			}
			ended = seen.Lease.With(run.LeaseExpired)
			return &plan{op: c.ends(seen, ended, &leases.RecordLease{Action: leases.ActExpired})}, nil
		})
		if err != nil {
			return out, err
		}
		if ended != nil {
			out = append(out, ended)
		}
	}
	return out, nil
}

// pruneLeases removes the oldest refs of leases whose turns are over.
func (r *Runner) pruneLeases(ctx context.Context) {
	v, err := r.View(ctx)
	if err != nil {
		return
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	lease.Prune(ctx, r.store, v)
}
