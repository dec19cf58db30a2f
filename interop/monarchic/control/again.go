// A repeated report of an outcome whose answer was lost gets the same answer
// (docs/leases.md#the-calls).

package control

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// maxTold bounds how many answers are remembered; older ones come from the record.
const maxTold = 1024

// told holds the answers that ended leases.
type told struct {
	mu   sync.Mutex
	byID map[lease.Holder]tale
}

// tale is a report and its answer.
type tale struct {
	status pb.PlanStatus
	out    *pb.ReportStepOutcomeResponse
}

func (t *told) put(h lease.Holder, status pb.PlanStatus, out *pb.ReportStepOutcomeResponse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil || len(t.byID) >= maxTold {
		t.byID = make(map[lease.Holder]tale)
	}
	t.byID[h] = tale{status, proto.CloneOf(out)}
}

func (t *told) get(h lease.Holder) (tale, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.byID[h]
	return tale{one.status, proto.CloneOf(one.out)}, ok
}

// answered returns the answer that ended the lease of h: remembered, else derived from the record. It is nil when the
// lease did not end by a report, or when another outcome was accepted than is reported now.
func (s *Server) answered(ctx context.Context, h lease.Holder, status pb.PlanStatus) *pb.ReportStepOutcomeResponse {
	if s.sessions.get(h.SessionID, h.RunnerID) == nil {
		return nil
	}
	if before, ok := s.told.get(h); ok {
		if before.out.Accepted && before.status != status {
			return nil
		}
		return before.out
	}
	how, err := s.r.Reported(ctx, h)
	if err != nil || !s.agrees(ctx, how, h.Ref.StepID, status) {
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

// agrees reports whether an outcome with this status may be what the record has for the turn.
func (s *Server) agrees(ctx context.Context, how lease.Reported, turn string, status pb.PlanStatus) bool {
	switch {
	case how == lease.ReportRefused:
		return true
	case how == lease.ReportGivenBack || status == pb.PlanStatus_CANCELLED:
		return how == lease.ReportGivenBack && status == pb.PlanStatus_CANCELLED
	case status == pb.PlanStatus_COMPLETE:
		return true // also of a result that was not: the stricter of the two counts
	}
	rows, err := s.r.Record().TailRows(ctx, wire.LedgerHistory, 1, func(row *ojson.Object) bool {
		return row.String("turn_id") == turn
	})
	return err == nil && len(rows) == 1 && rows[0].Row.String("status") != wire.ResultCompleted
}
