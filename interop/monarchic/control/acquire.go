// AcquireLease: which turn a runner gets, and what it is told about it (docs/leases.md#the-calls).

package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
)

// maxTries bounds how many turns and roles one call looks at.
const maxTries = 32

// AcquireLease gives the runner the next admissible turn: an existing turn without a holder, else a
// new one for the next role. A lease whose answer was lost is given again, as long as the runner
// has not begun. Without a turn the answer says why (docs/leases.md#why-there-is-no-work).
func (s *Server) AcquireLease(ctx context.Context, req *pb.AcquireLeaseRequest) (*pb.AcquireLeaseResponse, error) {
	out := &pb.AcquireLeaseResponse{ContractVersion: contractVersion, OrchestratorId: s.orchestrator()}
	who, err := s.session(req)
	if err != nil {
		return nil, err
	}
	s.judgeParked(ctx)
	if out.Cancellations, err = s.cancellations(ctx, who, nil); err != nil {
		return nil, failed(err)
	}
	var why error
	switch {
	case req.AvailableSlots == 0:
		why = noWork(CodeNoSlots, "The runner asked with available_slots 0.",
			"ask with the number of leases you can take")
	case len(req.ActiveLeaseIds) > maxListed:
		why = noWork(wire.CodeInvalidArgument, fmt.Sprintf("active_lease_ids names more than %d leases.", maxListed),
			"")
	default:
		out.Assignment, why = s.assign(ctx, who, req.ActiveLeaseIds)
	}
	if out.Assignment != nil {
		return out, nil
	}
	out.RetryAfterMs = millis(s.opt.Poll)
	var refusal *wire.Error
	if !errors.As(why, &refusal) {
		return nil, failed(why)
	}
	own := ojson.NewObject("code", refusal.Code, "message", refusal.Message)
	if refusal.Hint != "" {
		own.Set("next_action", refusal.Hint)
	}
	if command := refusal.ExplainCommand(); command != "" {
		own.Set("explain", command)
	}
	if v, err := s.r.View(ctx); err == nil {
		own.Set("run_id", v.State.Run())
		own.Set("run_status", string(v.State.Status))
		own.Set("phase", v.State.Phase)
	}
	out.Extensions = extObject(own)
	return out, nil
}

func (s *Server) assign(ctx context.Context, who *session, known []string) (*pb.LeaseAssignment, error) {
	s.acquire.Lock()
	defer s.acquire.Unlock()
	if err := s.patiently(ctx, func() error { _, err := s.r.ExpireLeases(ctx); return err }); err != nil {
		return nil, err
	}
	list, _, err := s.r.Leases(ctx, "")
	if err != nil {
		return nil, err
	}
	held := 0
	for _, l := range list {
		if !l.Live || l.Lease.SessionID != who.ID || s.parked.has(l.Lease.FencingToken.Token) {
			continue
		}
		held++
		if l.Lease.Status == run.LeaseIssued && !slices.Contains(known, l.Lease.LeaseID) {
			return s.assignment(ctx, l.Lease)
		}
	}
	if who.MaxLeases > 0 && held >= who.MaxLeases {
		return nil, noWork(CodeLeasesHeld,
			fmt.Sprintf("The session holds %d of the %d leases it registered for.", held, who.MaxLeases),
			"report their outcomes first")
	}
	a := &assigning{s: s, ctx: ctx, who: who, tried: make(map[string]bool), checkpointed: make(map[string]bool)}
	given, err := a.next()
	if err != nil {
		return nil, err
	}
	if given == nil {
		return nil, cmp.Or[error](a.last, a.none)
	}
	return s.assignment(ctx, given)
}

// assigning looks for a turn for one runner.
type assigning struct {
	s            *Server
	ctx          context.Context
	who          *session
	tried        map[string]bool // turns and roles
	checkpointed map[string]bool
	last         error       // the last refusal
	none         *wire.Error // why no turn could be requested
}

func (a *assigning) next() (*runner.Lease, error) {
	a.none = noWork(CodeNothingReady, "No turn could be had now.", "git agentxchain status")
	for range maxTries {
		v, err := a.s.r.View(a.ctx)
		if err != nil {
			return nil, err
		}
		if st := v.State.Status; st != runner.StatusActive && st != runner.StatusIdle {
			a.none, a.last = notActive(v.State), nil
			return nil, nil
		}
		turn := a.waiting(v)
		if turn == "" {
			if turn = a.assignNew(v); turn == "" {
				return nil, nil
			}
			if a.tried[turn] {
				continue // only the run has changed: look again
			}
		}
		a.tried[turn] = true
		if turn, err = a.ready(turn); err != nil || turn == "" {
			a.last = err
			continue
		}
		a.tried[turn] = true
		var res *runner.Leased
		err = a.s.patiently(a.ctx, func() (err error) {
			res, err = a.s.r.IssueLease(a.ctx, runner.IssueOptions{
				TurnID:    turn,
				RunnerID:  a.who.Runner,
				SessionID: a.who.ID,
				TTL:       a.s.opt.TTL,
			})
			return err
		})
		if err == nil {
			return res.Lease, nil
		}
		if _, ok := errors.AsType[*wire.Error](err); !ok {
			return nil, err
		}
		a.last = err
	}
	return nil, nil
}

// waiting returns an active turn that this runner may have, "" for none. A request for it shows
// whether another runner holds it.
func (a *assigning) waiting(v *runner.View) string {
	for id, t := range v.State.ActiveTurns.All() {
		if t != nil && !a.tried[id] && a.serves(v.Config, t.AssignedRole, t.RuntimeID) &&
			a.s.r.Unleased(a.ctx, v, t) == nil {
			return id
		}
	}
	return ""
}

// serves reports whether the runner has declared that it can carry out such turns.
func (a *assigning) serves(cfg *runner.Config, role, runtime string) bool {
	if a.who.Runtime != "" && a.who.Runtime != runtime {
		return false
	}
	if len(a.who.Roles)+len(a.who.RoleIDs) == 0 {
		return true
	}
	return slices.Contains(a.who.RoleIDs, role) || slices.Contains(a.who.Roles, agentRole(cfg, role))
}

// ready makes an active turn leasable: dispatched, with an attempt left. It returns the turn to
// lease, a different one when it had to be reissued.
func (a *assigning) ready(id string) (string, error) {
	v, err := a.s.r.View(a.ctx)
	if err != nil {
		return "", err
	}
	t, ok := v.State.ActiveTurns.Get(id)
	if !ok {
		return "", nil
	}
	err = a.s.patiently(a.ctx, func() error {
		switch t.Status {
		case wire.TurnDispatched, wire.TurnStarting, wire.TurnRunning, wire.TurnRetrying:
			return nil
		case wire.TurnAssigned:
			_, err := a.s.r.WriteDispatchBundle(a.ctx, id)
			return err
		case wire.TurnFailedAcceptance, wire.TurnConflicted:
			_, err := a.s.r.RejectTurn(a.ctx, runner.RejectOptions{
				TurnID:   id,
				Stage:    "acceptance",
				Reason:   cmp.Or(t.FailureReason, "its result was not accepted"),
				Reassign: t.Status == wire.TurnConflicted,
			})
			return err
		}
		out, err := a.s.r.ReissueTurn(a.ctx, runner.ReissueOptions{TurnID: id, Reason: "the turn was " + t.Status})
		if err == nil {
			id = out.Result.Turn.TurnID
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// assignNew assigns a turn to the next role and returns it; "" when no role gets a turn, or only
// roles that this runner does not serve. Then none or last says why.
func (a *assigning) assignNew(v *runner.View) string {
	st, cfg := v.State, v.Config
	if st.Status == runner.StatusActive && !loop.Room(st, cfg) {
		a.none = noRoom(v)
		return ""
	}
	next, err := loop.NextRole(st, cfg)
	if err != nil {
		a.last = err
		return ""
	}
	skipped := make(map[string]bool)
	for role := range a.tried {
		skipped[role] = true
	}
	var unserved []string
	role := loop.FreeRole(next, st, cfg, skipped)
	for role != "" {
		if r := cfg.Role(role); r != nil && a.serves(cfg, role, r.RuntimeID) {
			break
		}
		unserved = append(unserved, role)
		if len(st.OpenCharters()) == 0 {
			role = "" // the order of roles decides; another role does not jump the queue
			break
		}
		// Ready charters do not wait for each other: any runner that can carry one out may have it.
		skipped[role] = true
		role = loop.FreeRole(next, st, cfg, skipped)
	}
	switch {
	case role != "":
	case len(unserved) > 0:
		a.none = noWork(CodeRoleNotServed,
			fmt.Sprintf("The next turn is of role %s, which this runner did not register for.",
				wire.ListSome(unserved, 5)),
			"register a runner that serves it")
		return ""
	default:
		a.none = nobodyNext(v)
		return ""
	}
	var out *runner.Assigned
	err = a.s.patiently(a.ctx, func() (err error) {
		out, err = a.s.r.AssignTurn(a.ctx, runner.AssignOptions{Role: role})
		return err
	})
	if err == nil {
		return out.Turn.TurnID
	}
	a.last = err
	return a.checkpointFor(err)
}

// checkpointFor commits the files of the accepted turns that prevented an assignment, and returns
// one of them; "" when the refusal has another reason. Several turns that ran side by side may wait
// for it.
func (a *assigning) checkpointFor(refused error) (turn string) {
	var refusal *wire.Error
	if a.s.opt.NoCheckpoint || !errors.As(refused, &refusal) ||
		refusal.Code != wire.CodeCheckpointRequired && refusal.Code != wire.CodeDirtyTree {
		return ""
	}
	v, err := a.s.r.View(a.ctx)
	if err != nil {
		return ""
	}
	for _, id := range v.Index.Awaiting(refusal.Details.Strings("files")) {
		if a.checkpointed[id] {
			continue
		}
		a.checkpointed[id] = true
		if err := a.s.checkpoint(a.ctx, id); err != nil {
			a.last = err
			return ""
		}
		a.tried[id], turn = true, id // accepted long ago: look again
	}
	return turn
}

// checkpoint commits the files of an accepted turn.
func (s *Server) checkpoint(ctx context.Context, turn string) error {
	return s.patiently(ctx, func() error { _, err := s.r.Checkpoint(ctx, turn); return err })
}

// assignment returns what the runner is told.
func (s *Server) assignment(ctx context.Context, l *runner.Lease) (*pb.LeaseAssignment, error) {
	task, err := s.task(ctx, l.StepID)
	if err != nil {
		return nil, err
	}
	own, _ := structpb.NewStruct(map[string]any{"agentxchain": map[string]any{
		"expires_at_ms": float64(l.ExpiresAtMS),
		"fencing_scope": l.FencingToken.Scope,
	}})
	return &pb.LeaseAssignment{Lease: refMessage(lease.RefOf(l)), Task: task, IssuedAtMs: uint64(l.IssuedAtMS),
		LeaseTtlMs: uint64(max(1, l.ExpiresAtMS-l.IssuedAtMS)), Extensions: own}, nil
}
