// The calls of RunnerControlService (docs/leases.md#the-calls).

package control

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

const (
	contractVersion = "v1"
	maxName         = 200 // bytes of an id that a runner chooses
	maxListed       = 256 // leases named in one request
	maxMessages     = 200 // events or artifacts in one request
)

func (s *Server) orchestrator() string {
	return run.LeaseIssuer + "/" + cmp.Or(s.opt.Version, "dev")
}

// checkAsk refuses a request that no call can answer.
func checkAsk(a ask) error {
	if v := a.GetContractVersion(); v != contractVersion {
		return refuse(connect.CodeInvalidArgument,
			"unsupported_version: contract_version %q is not served; supported: %s", text.Clip(v, 40), contractVersion)
	}
	if id := a.GetRunnerId(); !safeName(id) {
		return refuse(connect.CodeInvalidArgument,
			"invalid_argument: runner_id must be a name of at most %d bytes without slashes and control characters",
			maxName)
	}
	return nil
}

// RegisterRunner opens a session. A runner_id that names a configured runtime binds
// the session to it, and so does a label runtime:<id>; any other runner serves all
// runtimes.
func (s *Server) RegisterRunner(ctx context.Context,
	req *pb.RegisterRunnerRequest) (*pb.RegisterRunnerResponse, error) {
	c, err := s.r.LoadContext(ctx)
	if err != nil {
		return nil, failed(err)
	}
	one := session{Runner: req.RunnerId, MaxLeases: int(min(req.MaxParallelLeases, 1000))}
	caps := req.GetCapabilities()
	if len(caps.GetSupportedTaskVersions()) > 0 && !slices.Contains(caps.GetSupportedTaskVersions(), contractVersion) {
		return nil, refuse(connect.CodeInvalidArgument,
			"unsupported_version: tasks are of version %s, which the runner does not support", contractVersion)
	}
	if len(caps.GetSupportedRoles())+len(caps.GetSupportedRoleIds())+len(caps.GetLabels()) > 1000 {
		return nil, refuse(connect.CodeInvalidArgument, "invalid_argument: more than 1000 capabilities")
	}
	for _, id := range caps.GetSupportedRoleIds() {
		if !safeName(id) {
			return nil, refuse(connect.CodeInvalidArgument,
				"invalid_argument: supported_role_ids are names of at most %d bytes", maxName)
		}
	}
	for _, role := range caps.GetSupportedRoles() {
		if role != pb.AgentRole_AGENT_ROLE_UNSPECIFIED {
			one.Roles = append(one.Roles, roleToken(role))
		}
	}
	one.RoleIDs = caps.GetSupportedRoleIds()
	if c.Config.Runtimes.Has(req.RunnerId) {
		one.Runtime = req.RunnerId
	}
	for _, label := range caps.GetLabels() {
		if id, ok := strings.CutPrefix(label, "runtime:"); ok {
			if !c.Config.Runtimes.Has(id) {
				return nil, refuse(connect.CodeInvalidArgument, "unknown_runtime: %s defines no runtime %q",
					wire.ConfigPath, text.Clip(id, 80))
			}
			one.Runtime = id
		}
	}
	made, err := s.sessions.add(one)
	if err != nil {
		return nil, failed(err)
	}
	return &pb.RegisterRunnerResponse{
		ContractVersion:     contractVersion,
		OrchestratorId:      s.orchestrator(),
		SessionId:           made.ID,
		HeartbeatIntervalMs: millis(s.opt.Heartbeat),
		LeasePollIntervalMs: millis(s.opt.Poll),
	}, nil
}

// Heartbeat answers with what the runner should give up.
func (s *Server) Heartbeat(ctx context.Context, req *pb.HeartbeatRequest) (*pb.HeartbeatResponse, error) {
	who, err := s.session(req)
	if err != nil {
		return nil, err
	}
	if len(req.ActiveLeases) > maxListed {
		return nil, refuse(connect.CodeInvalidArgument, "invalid_argument: more than %d leases", maxListed)
	}
	var refs []*pb.LeaseRef
	for _, l := range req.ActiveLeases {
		if l.GetLease() != nil {
			refs = append(refs, l.Lease)
		}
	}
	stop, err := s.cancellations(ctx, who, refs)
	if err != nil {
		return nil, failed(err)
	}
	return &pb.HeartbeatResponse{
		ContractVersion: contractVersion,
		OrchestratorId:  s.orchestrator(),
		NextHeartbeatMs: millis(s.opt.Heartbeat),
		Cancellations:   stop,
	}, nil
}

// RenewLease gives the holder more time.
func (s *Server) RenewLease(ctx context.Context, req *pb.RenewLeaseRequest) (*pb.RenewLeaseResponse, error) {
	out := &pb.RenewLeaseResponse{ContractVersion: contractVersion, OrchestratorId: s.orchestrator()}
	h, err := s.holder(req)
	if err == nil {
		var res *runner.Leased
		err = s.patiently(ctx, func() (err error) { res, err = s.r.RenewLease(ctx, h, s.opt.TTL); return err })
		if err == nil {
			out.Accepted = true
			out.LeaseTtlMs = uint64(max(1, res.Lease.ExpiresAtMS-s.opt.Now().UnixMilli()))
			return out, nil
		}
	}
	out.Failure, err = s.refused(ctx, h, "renew", err)
	if who, serr := s.session(req); serr == nil && err == nil {
		out.Cancellations, _ = s.cancellations(ctx, who, []*pb.LeaseRef{req.GetLease()})
	}
	return out, err
}

// ResumeLease gives the turn to this session of the runner that holds it.
func (s *Server) ResumeLease(ctx context.Context, req *pb.ResumeLeaseRequest) (*pb.ResumeLeaseResponse, error) {
	out := &pb.ResumeLeaseResponse{ContractVersion: contractVersion, OrchestratorId: s.orchestrator()}
	h, err := s.holder(req)
	var res *runner.Leased
	if err == nil {
		err = s.patiently(ctx, func() (err error) {
			res, err = s.r.ResumeLease(ctx, h, req.SessionId, s.opt.TTL)
			return err
		})
	}
	if err == nil {
		out.Accepted, out.Lease = true, leaseMessage(res.Lease)
		out.ExpiresAtMs, out.CurrentFencingToken = uint64(res.Lease.ExpiresAtMS), res.Lease.FencingToken.Token
		return out, nil
	}
	failure, err := s.refused(ctx, h, "resume", err)
	if err != nil {
		return out, err
	}
	out.Reason, out.Message = rejectionReason(failure.GetCode()), failure.GetMessage()
	if out.Reason == pb.LeaseRejectionReason_LEASE_REJECTION_REASON_UNSPECIFIED {
		out.Reason = pb.LeaseRejectionReason_LEASE_REJECTION_RUN_NOT_EXECUTABLE
	}
	if res != nil && res.Lease != nil {
		out.Lease, out.ExpiresAtMs, out.CurrentFencingToken = leaseMessage(res.Lease), uint64(res.Lease.ExpiresAtMS),
			res.Lease.FencingToken.Token
	}
	return out, nil
}

// ReportStepStarted makes the lease active and the turn run.
func (s *Server) ReportStepStarted(ctx context.Context,
	req *pb.ReportStepStartedRequest) (*pb.ReportStepStartedResponse, error) {
	out := &pb.ReportStepStartedResponse{ContractVersion: contractVersion, OrchestratorId: s.orchestrator()}
	h, err := s.holder(req)
	if err == nil {
		if out.Failure = badTime("started_at", req.StartedAt); out.Failure != nil {
			return out, nil
		}
		err = s.patiently(ctx, func() error { _, err := s.r.ActivateLease(ctx, h); return err })
	}
	out.Accepted = err == nil
	out.Failure, err = s.refused(ctx, h, "report_step_started", err)
	return out, err
}

// ReportStepProgress records what the runner reports about its work.
func (s *Server) ReportStepProgress(ctx context.Context,
	req *pb.ReportStepProgressRequest) (*pb.ReportStepProgressResponse, error) {
	out := &pb.ReportStepProgressResponse{ContractVersion: contractVersion, OrchestratorId: s.orchestrator()}
	h, err := s.holder(req)
	if err == nil {
		payload, failure := progress(req.Events, req.Artifacts)
		switch {
		case failure != nil:
			out.Failure = failure
			return out, nil
		case payload == nil:
			_, err = s.r.CheckLease(ctx, h)
		default:
			err = s.patiently(ctx, func() error { _, err := s.r.ReportProgress(ctx, h, payload); return err })
		}
	}
	out.Accepted = err == nil
	out.Failure, err = s.refused(ctx, h, "report_step_progress", err)
	if who, serr := s.session(req); serr == nil && err == nil {
		out.Cancellations, _ = s.cancellations(ctx, who, []*pb.LeaseRef{req.GetLease()})
	}
	return out, err
}

// AckCancellation takes the runner's word that it has stopped.
func (s *Server) AckCancellation(ctx context.Context,
	req *pb.AckCancellationRequest) (*pb.AckCancellationResponse, error) {
	out := &pb.AckCancellationResponse{ContractVersion: contractVersion, OrchestratorId: s.orchestrator()}
	h, err := s.holder(req)
	if err == nil {
		err = s.patiently(ctx, func() error {
			_, err := s.r.AckCancel(ctx, h, req.Status, req.GetMessage())
			return err
		})
	}
	out.Accepted = err == nil
	out.Failure, err = s.refused(ctx, h, "ack_cancellation", err)
	return out, err
}

// sessionAsk is a request of a registered runner.
type sessionAsk interface {
	GetRunnerId() string
	GetSessionId() string
}

// session returns the session of the asker; a failed_precondition says that the runner has to
// register.
func (s *Server) session(req sessionAsk) (*session, error) {
	one := s.sessions.get(req.GetSessionId(), req.GetRunnerId())
	if one == nil {
		return nil, refuse(connect.CodeFailedPrecondition,
			run.RejectSession+": there is no such session of this runner; call RegisterRunner")
	}
	return one, nil
}

// leaseAsk is a request about one lease.
type leaseAsk interface {
	sessionAsk
	GetLease() *pb.LeaseRef
}

// holder returns the asker and its lease. An unregistered session is refused as one that does not
// hold the lease.
func (s *Server) holder(req leaseAsk) (lease.Holder, error) {
	h := lease.Holder{Ref: refOf(req.GetLease()), RunnerID: req.GetRunnerId(), SessionID: req.GetSessionId()}
	if s.sessions.get(h.SessionID, h.RunnerID) == nil {
		return h, &wire.Error{
			Code:    run.CodeLeaseRefused,
			Field:   "session_id",
			Message: "There is no such session of this runner.",
			Hint:    "call RegisterRunner, then ResumeLease",
			Details: ojson.NewObject("lease_rejection_reason", run.RejectSession),
		}
	}
	return h, nil
}

// cancellations returns the requests to give up leases: those of this session that the run no
// longer allows, and those among refs that no longer hold.
func (s *Server) cancellations(ctx context.Context, who *session,
	refs []*pb.LeaseRef) ([]*pb.CancellationIntent, error) {
	list, _, err := s.r.Leases(ctx, "")
	if err != nil {
		return nil, err
	}
	v, err := s.r.View(ctx)
	if err != nil {
		return nil, err
	}
	var out []*pb.CancellationIntent
	told := make(map[string]bool)
	tell := func(ref lease.Ref, reason string, at int64, force bool) {
		if !told[ref.LeaseID+ref.FencingToken] {
			told[ref.LeaseID+ref.FencingToken] = true
			out = append(out, &pb.CancellationIntent{
				Lease:         refMessage(ref),
				Reason:        reason,
				RequestedAtMs: uint64(max(0, at)),
				Force:         force,
			})
		}
	}
	for _, l := range list {
		if !l.Live || l.Lease.SessionID != who.ID || l.Lease.RunnerID != who.Runner {
			continue
		}
		reason, at := l.Lease.Cancellation()
		if at == 0 && v.State.Status != runner.StatusActive {
			reason = stopReason(v.State)
			h := lease.Holder{Ref: lease.RefOf(l.Lease), RunnerID: who.Runner, SessionID: who.ID}
			if err := s.patiently(ctx,
				func() error { _, err := s.r.AskCancel(ctx, h, reason, false); return err }); err != nil {
				return out, err
			}
			at = s.opt.Now().UnixMilli()
		}
		if at != 0 {
			tell(lease.RefOf(l.Lease), reason, at, false)
		}
	}
	for _, ref := range refs {
		h := lease.Holder{Ref: refOf(ref), RunnerID: who.Runner, SessionID: who.ID}
		if _, err := s.r.CheckLease(ctx, h); err != nil {
			switch reason := lease.Refusal(err); reason {
			case "":
				return out, err
			case run.RejectNotExecutable, run.RejectDependency, run.RejectTerminal:
				// Asked to stop above, while it holds; a step that is over need not be stopped.
			default:
				tell(h.Ref, reason, s.opt.Now().UnixMilli(), true)
			}
		}
	}
	return out, nil
}

// stopReason says why a run that is not active needs no work.
func stopReason(st *runner.State) string {
	if r := st.BlockedReason; r != nil && r.Recovery.Detail != nil && *r.Recovery.Detail != "" {
		return text.Clip("the run is "+string(st.Status)+": "+*r.Recovery.Detail, 1000)
	}
	return "the run is " + string(st.Status)
}

// patiently repeats operations that only lost a race.
func (s *Server) patiently(ctx context.Context, f func() error) error {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := f()
		switch runner.ErrorCode(err) {
		case "ref_moved", "ref_locked", "state_moved", "locked", "lock_lost":
		default:
			return err
		}
		if wait >= time.Second {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return err
		case <-t.C:
		}
	}
}

// ext returns what we add to the contract: extensions.agentxchain.
func ext(pairs ...any) *structpb.Struct { return extObject(ojson.NewObject(pairs...)) }

func extObject(own *ojson.Object) *structpb.Struct {
	st, err := structpb.NewStruct(map[string]any{"agentxchain": toMap(own)})
	if err != nil {
		return nil
	}
	return st
}
