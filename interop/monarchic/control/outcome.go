// ReportStepOutcome: a result is judged by ordinary acceptance, in the transaction
// that releases the lease.

package control

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Codes of outcomes that are refused before anything is judged.
const (
	CodeTurnResultMissing = "turn_result_missing"
	CodeStatusInadmissble = "outcome_status_inadmissible"
	CodeTooManyMessages   = "too_many_messages"
	CodeInvalidTime       = "invalid_time"
)

// ReportStepOutcome stages extensions.agentxchain.turn_result (an object, or its JSON
// text when the bytes matter) and accepts it. A result that is refused sends the turn
// back for another attempt, as the run loop does; the lease is rejected then.
func (s *Server) ReportStepOutcome(ctx context.Context,
	req *pb.ReportStepOutcomeRequest) (*pb.ReportStepOutcomeResponse, error) {
	out := &pb.ReportStepOutcomeResponse{ContractVersion: contractVersion, OrchestratorId: s.orchestrator()}
	h, err := s.holder(req)
	if err == nil {
		_, err = s.r.CheckLease(ctx, h)
	}
	if err == nil {
		if out.Failure = s.inadmissible(req); out.Failure != nil {
			return out, nil
		}
		data, failure := turnResult(req.Extensions)
		if failure != nil {
			out.Failure = failure
			return out, nil
		}
		var res *runner.Accepted
		if res, err = s.outcome(ctx, req, h, data); err == nil {
			out.Accepted = true
			out.Extensions = ext("turn_id", h.Ref.StepID, "run_status", string(res.State.Status),
				"phase", res.State.Phase)
			return out, nil
		}
	}
	out.Failure, err = s.refused(ctx, h, "report_step_outcome", err)
	return out, err
}

func (s *Server) inadmissible(req *pb.ReportStepOutcomeRequest) *pb.FailureDetail {
	switch req.Status {
	case pb.PlanStatus_COMPLETE, pb.PlanStatus_FAILED, pb.PlanStatus_CANCELLED:
	default:
		return failure("validation", CodeStatusInadmissble,
			"The status of an outcome is complete, failed or cancelled.", nil)
	}
	return badTime("finished_at", req.FinishedAt)
}

// outcome records what came beside the result, then has the result judged.
func (s *Server) outcome(ctx context.Context, req *pb.ReportStepOutcomeRequest, h runner.LeaseHolder,
	data []byte) (*runner.Accepted, error) {
	payload, bad := progress(req.Events, req.Artifacts)
	if bad != nil {
		return nil, &wire.Error{Code: bad.Code, Message: bad.Message}
	}
	if payload != nil {
		if err := s.patiently(ctx,
			func() error { _, err := s.r.ReportProgress(ctx, h, payload); return err }); err != nil {
			return nil, err
		}
	}
	var res *runner.Accepted
	err := s.patiently(ctx, func() (err error) {
		res, err = s.r.AcceptTurn(ctx, runner.AcceptOptions{
			TurnID:  h.Ref.StepID,
			Lease:   &h,
			Result:  data,
			Patient: s.others(ctx, h.Ref.StepID),
		})
		return err
	})
	if res != nil && res.Result != nil && res.Result.Entry != nil {
		return res, nil // accepted, whatever a hook had to say afterwards
	}
	if err != nil {
		s.sendBack(ctx, h, err)
	}
	return res, err
}

// others reports whether other turns are active: what the work tree holds may be theirs.
func (s *Server) others(ctx context.Context, turn string) bool {
	v, err := s.r.View(ctx)
	return err == nil &&
		(v.State.ActiveTurns.Len() > 1 || v.State.ActiveTurns.Len() == 1 && !v.State.ActiveTurns.Has(turn))
}

// sendBack has another attempt made of a turn whose result was refused.
func (s *Server) sendBack(ctx context.Context, h runner.LeaseHolder, refusal error) {
	v, err := s.r.View(ctx)
	if err != nil {
		return
	}
	turn, active := v.State.ActiveTurns.Get(h.Ref.StepID)
	if !active || v.State.Status != runner.StatusActive {
		return
	}
	code := runner.ErrorCode(refusal)
	switch {
	case turn.Status == wire.TurnFailedAcceptance, turn.Status == wire.TurnConflicted:
	case code == wire.CodeInvalidJSON, code == wire.CodeStagedMissing, code == wire.CodeStaleStaging:
	default:
		return
	}
	opt := runner.RejectOptions{
		TurnID:   turn.TurnID,
		Stage:    "validation",
		Reason:   oneLine(refusal.Error(), 2000),
		Reassign: turn.Status == wire.TurnConflicted,
		Lease:    &h,
	}
	var e *wire.Error
	if errors.As(refusal, &e) {
		if e.Stage != "" {
			opt.Stage = e.Stage
		}
		opt.Errors = wire.Problems(e.Problems).Messages()
	}
	// Should it fail, the next runner that asks for work has it sent back.
	_ = s.patiently(ctx, func() error { _, err := s.r.RejectTurn(ctx, opt); return err })
}

// turnResult is the result an outcome carries.
func turnResult(extensions *structpb.Struct) ([]byte, *pb.FailureDetail) {
	own := extensions.GetFields()["agentxchain"].GetStructValue()
	switch v := own.GetFields()["turn_result"].GetKind().(type) {
	case *structpb.Value_StructValue:
		o, _ := fromValue(structpb.NewStructValue(v.StructValue)).(*ojson.Object)
		return ojson.Pretty(o), nil
	case *structpb.Value_StringValue:
		if _, err := ojson.DecodeObject([]byte(v.StringValue)); err != nil {
			return nil, failure("validation", wire.CodeInvalidJSON,
				"extensions.agentxchain.turn_result is a string that holds no JSON object: "+oneLine(err.Error(), 300),
				nil)
		}
		return []byte(v.StringValue), nil
	}
	return nil, failure("validation", CodeTurnResultMissing,
		"An outcome carries the turn's result in extensions.agentxchain.turn_result; this one has none.", nil)
}

// progress is the payload that events and artifacts are recorded with, nil for none.
func progress(events []*pb.Event, artifacts []*pb.Artifact) (*ojson.Object, *pb.FailureDetail) {
	if len(events)+len(artifacts) == 0 {
		return nil, nil
	}
	if len(events)+len(artifacts) > maxMessages {
		return nil, failure("validation", CodeTooManyMessages,
			fmt.Sprintf("One report holds at most %d events and artifacts.", maxMessages), nil)
	}
	out := &ojson.Object{}
	var list []any
	for _, e := range events {
		o, err := messageObject(e)
		if err != nil {
			return nil, failure("validation", wire.CodeInvalidArgument,
				"An event cannot be recorded: "+oneLine(err.Error(), 300), nil)
		}
		list = append(list, o)
	}
	if list != nil {
		out.Set("events", list)
	}
	list = nil
	for _, a := range artifacts {
		o, err := messageObject(a)
		if err != nil {
			return nil, failure("validation", wire.CodeInvalidArgument,
				"An artifact cannot be recorded: "+oneLine(err.Error(), 300), nil)
		}
		list = append(list, o)
	}
	if list != nil {
		out.Set("artifacts", list)
	}
	return out, nil
}
