// The runner: it leases turns, carries them out, keeps its lease alive and hands in the result.

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
)

const contract = "v1"

// errNothing means that there is no turn for this runner now.
var errNothing = errors.New("no turn")

// worker is one registered runner.
type worker struct {
	client  pbgrpc.RunnerControlServiceClient
	id      string
	session string
	beat    time.Duration // between heartbeats
	poll    time.Duration // before asking again

	// do carries out a turn and returns the turn's result as JSON.
	do func(ctx context.Context, task *pb.Task) ([]byte, error)
}

// register opens the worker's session.
func (w *worker) register(ctx context.Context, roles []string) error {
	res, err := w.client.RegisterRunner(ctx, &pb.RegisterRunnerRequest{
		ContractVersion:   contract,
		RunnerId:          w.id,
		MaxParallelLeases: 1,
		Capabilities: &pb.RunnerCapabilities{
			SupportedTaskVersions: []string{contract},
			SupportedRoleIds:      roles,
			SupportsResume:        true,
		},
	})
	if err != nil {
		return err
	}
	w.session = res.SessionId
	w.beat, w.poll = time.Duration(res.HeartbeatIntervalMs)*time.Millisecond,
		time.Duration(res.LeasePollIntervalMs)*time.Millisecond
	return nil
}

// turn leases one turn and carries it out; it returns the task it worked on, or errNothing when
// there is none. A result that the run refuses is an error with the reason, and so is the agent's
// failure, which is reported to the run.
func (w *worker) turn(ctx context.Context) (*pb.Task, error) {
	got, err := w.client.AcquireLease(ctx, &pb.AcquireLeaseRequest{
		ContractVersion: contract,
		RunnerId:        w.id,
		SessionId:       w.session,
		AvailableSlots:  1,
	})
	if err != nil {
		return nil, err
	}
	as := got.GetAssignment()
	if as == nil {
		if wait := time.Duration(got.RetryAfterMs) * time.Millisecond; wait > 0 {
			w.poll = wait
		}
		return nil, errNothing
	}
	return as.Task, w.carryOut(ctx, as)
}

func (w *worker) carryOut(ctx context.Context, as *pb.LeaseAssignment) error {
	started, err := w.client.ReportStepStarted(ctx, &pb.ReportStepStartedRequest{
		ContractVersion: contract,
		RunnerId:        w.id,
		SessionId:       w.session,
		Lease:           as.Lease,
		StartedAt:       time.Now().UTC().Format(time.RFC3339),
	})
	if err != nil {
		return err
	}
	if !started.Accepted {
		return refusal("the start", started.Failure)
	}
	// Whatever ends the lease ends the work: a result without a lease is worthless.
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		w.keep(work, as, stop)
	}()
	result, failed := w.do(work, as.Task)
	stop(nil)
	<-kept
	if cause := context.Cause(work); errors.Is(cause, errStopped) {
		return w.acknowledge(ctx, as, cause)
	}
	outcome := &pb.ReportStepOutcomeRequest{
		ContractVersion: contract,
		RunnerId:        w.id,
		SessionId:       w.session,
		Lease:           as.Lease,
		Status:          pb.PlanStatus_COMPLETE,
		FinishedAt:      time.Now().UTC().Format(time.RFC3339),
	}
	if failed != nil {
		if ctx.Err() != nil {
			return failed // the runner is about to end; its lease ends by itself, and another runner carries on
		}
		// Reported, so that the run can react: a lease that only expires is issued again without
		// end.
		outcome.Status = pb.PlanStatus_FAILED
		outcome.Failure = &pb.FailureDetail{
			Class:   "internal",
			Code:    "agent_failed",
			Message: "The agent of the runner failed: " + failed.Error(),
		}
	} else if outcome.Extensions, err = structpb.NewStruct(map[string]any{
		"agentxchain": map[string]any{"turn_result": string(result)},
	}); err != nil {
		return err
	}
	out, err := w.client.ReportStepOutcome(ctx, outcome)
	if err != nil {
		return err
	}
	if !out.Accepted {
		return refusal("the outcome", out.Failure)
	}
	return failed
}

var errStopped = errors.New("asked to stop")

// keep renews the lease and sends heartbeats until the work is done or the lease is
// lost.
func (w *worker) keep(ctx context.Context, as *pb.LeaseAssignment, stop context.CancelCauseFunc) {
	ttl := time.Duration(as.LeaseTtlMs) * time.Millisecond
	renew, beat := time.NewTicker(max(ttl/3, 10*time.Millisecond)), time.NewTicker(max(w.beat, 10*time.Millisecond))
	defer renew.Stop()
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
			res, err := w.client.RenewLease(ctx, &pb.RenewLeaseRequest{
				ContractVersion: contract,
				RunnerId:        w.id,
				SessionId:       w.session,
				Lease:           as.Lease,
			})
			if err == nil && !res.Accepted {
				stop(refusal("the renewal", res.Failure))
				return
			}
		case <-beat.C:
			res, err := w.client.Heartbeat(ctx, &pb.HeartbeatRequest{
				ContractVersion: contract,
				RunnerId:        w.id,
				SessionId:       w.session,
				ActiveLeases: []*pb.LeaseStatus{{
					Lease:       as.Lease,
					State:       "running",
					UpdatedAtMs: uint64(time.Now().UnixMilli()),
				}},
			})
			for _, c := range res.GetCancellations() {
				if err == nil && c.GetLease().GetLeaseId() == as.Lease.LeaseId {
					stop(fmt.Errorf("%w: %s", errStopped, c.Reason))
					return
				}
			}
		}
	}
}

// acknowledge reports that the work has stopped.
func (w *worker) acknowledge(ctx context.Context, as *pb.LeaseAssignment, cause error) error {
	text := cause.Error()
	res, err := w.client.AckCancellation(ctx, &pb.AckCancellationRequest{
		ContractVersion: contract,
		RunnerId:        w.id,
		SessionId:       w.session,
		Lease:           as.Lease,
		Status:          "stopped",
		Message:         &text,
	})
	if err == nil && !res.Accepted {
		err = refusal("the acknowledgement", res.Failure)
	}
	return errors.Join(cause, err)
}

func refusal(what string, f *pb.FailureDetail) error {
	return fmt.Errorf("%s was refused (%s/%s): %s", what, f.GetClass(), f.GetCode(), f.GetMessage())
}
