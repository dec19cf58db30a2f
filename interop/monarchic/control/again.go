// An outcome that is reported again, because its answer was lost on the way: it gets
// the same answer (docs/leases.md#the-calls).

package control

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// maxTold bounds how many answers are remembered; older ones come from the record.
const maxTold = 1024

// told are the answers that ended leases.
type told struct {
	mu   sync.Mutex
	byID map[lease.Holder]*pb.ReportStepOutcomeResponse
}

func (t *told) put(h lease.Holder, out *pb.ReportStepOutcomeResponse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil || len(t.byID) >= maxTold {
		t.byID = make(map[lease.Holder]*pb.ReportStepOutcomeResponse)
	}
	t.byID[h] = proto.CloneOf(out)
}

func (t *told) get(h lease.Holder) *pb.ReportStepOutcomeResponse {
	t.mu.Lock()
	defer t.mu.Unlock()
	if out := t.byID[h]; out != nil {
		return proto.CloneOf(out)
	}
	return nil
}

// answered is the answer that ended the lease of h: remembered, else what the record
// says of it. nil when the lease did not end by a report.
func (s *Server) answered(ctx context.Context, h lease.Holder) *pb.ReportStepOutcomeResponse {
	if s.sessions.get(h.SessionID, h.RunnerID) == nil {
		return nil
	}
	if out := s.told.get(h); out != nil {
		return out
	}
	how, err := s.r.Reported(ctx, h)
	if err != nil {
		return nil
	}
	out := s.newOutcomeResponse()
	switch how {
	case lease.ReportAccepted, lease.ReportGivenBack:
		out.Accepted = true
		if v, err := s.r.View(ctx); err == nil {
			out.Extensions = ext("turn_id", h.Ref.StepID, "run_status", string(v.State.Status), "phase", v.State.Phase)
		}
	case lease.ReportRefused:
		out.Failure = failure("validation", wire.CodeValidationFailed,
			"The result that was reported under this lease was refused; the turn has another attempt.", nil)
		if v, err := s.r.View(ctx); err == nil {
			turn, active := v.State.ActiveTurns.Get(h.Ref.StepID)
			out.Failure.Details.Fields["retryable"] = structpb.NewBoolValue(active)
			if active && turn.LastRejection.String("reason") != "" {
				out.Failure.Message = oneLine(turn.LastRejection.String("reason"), 2000)
			}
		}
	default:
		return nil
	}
	return out
}
