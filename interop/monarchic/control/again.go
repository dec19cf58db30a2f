// A repeated report of an outcome whose answer was lost gets the same answer
// (docs/leases.md#the-calls).

package control

import (
	"context"
	"strings"
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
	said string // see whole
	out  *pb.ReportStepOutcomeResponse
}

// put remembers the answer to a report that said so much, see whole.
func (t *told) put(h lease.Holder, said string, out *pb.ReportStepOutcomeResponse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil || len(t.byID) >= maxTold {
		t.byID = make(map[lease.Holder]tale)
	}
	t.byID[h] = tale{said, proto.CloneOf(out)}
}

func (t *told) get(h lease.Holder) (tale, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.byID[h]
	return tale{one.said, proto.CloneOf(one.out)}, ok
}

// answered returns the answer that ended the lease of h: remembered, else derived from the record. It is nil when the
// lease did not end by a report, or when another outcome was accepted than is reported now. The record has no report
// as it came, so that after a restart the status alone is compared.
func (s *Server) answered(ctx context.Context, h lease.Holder,
	req *pb.ReportStepOutcomeRequest) *pb.ReportStepOutcomeResponse {
	said := reported(req)
	if s.sessions.get(h.SessionID, h.RunnerID) == nil {
		return nil
	}
	if before, ok := s.told.get(h); ok {
		// A report of the status alone says nothing else than the one that was accepted.
		if before.out.Accepted && before.said != whole(req, said) &&
			(whole(req, said) != said || !strings.HasPrefix(before.said, said+" ")) {
			return nil
		}
		return before.out
	}
	how, err := s.r.Reported(ctx, h)
	if err != nil || !s.agrees(ctx, how, h.Ref.StepID, said) {
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

// givenBack stands for a report without a result, after which another runner may have the turn.
const givenBack = "cancelled"

// reported returns the status of the result that a report has or leads to; givenBack if there is none.
func reported(req *pb.ReportStepOutcomeRequest) string {
	switch given, _ := turnResult(req.Extensions); {
	case given != nil:
		return resultStatus(given)
	case req.Status == pb.PlanStatus_CANCELLED:
		return givenBack
	}
	return (&deriving{req: req, run: req.GetRunOutcome()}).status()
}

// whole returns what a report says of the turn: its status, and a digest of the result or of what one is derived from;
// the status alone if there is neither.
func whole(req *pb.ReportStepOutcomeRequest, said string) string {
	given, _ := turnResult(req.Extensions)
	if given == nil {
		// Without what a runner that reports again may well say otherwise: times, events.
		of := &pb.ReportStepOutcomeRequest{Artifacts: req.Artifacts, RunOutcome: req.RunOutcome, Failure: req.Failure}
		given, _ = proto.MarshalOptions{Deterministic: true}.Marshal(of)
	}
	if said == givenBack || len(given) == 0 {
		return said
	}
	return said + " " + wire.SHA256(given)
}

// agrees reports whether an outcome that says so may be what the record has for the turn.
func (s *Server) agrees(ctx context.Context, how lease.Reported, turn, said string) bool {
	switch {
	case how == lease.ReportRefused:
		return true
	case how == lease.ReportGivenBack || said == givenBack:
		return how == lease.ReportGivenBack && said == givenBack
	}
	rows, err := s.r.Record().TailRows(ctx, wire.LedgerHistory, 1, func(row *ojson.Object) bool {
		return row.String("turn_id") == turn
	})
	return err == nil && len(rows) == 1 && rows[0].Row.String("status") == said
}
