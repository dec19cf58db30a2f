// ReportStepOutcome: a result is judged by ordinary acceptance, in the transaction that releases
// the lease.

package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// Codes of outcomes that are refused before anything is judged.
const (
	CodeTurnResultMissing = "turn_result_missing"
	CodeStatusInadmissble = "outcome_status_inadmissible"
	CodeContradiction     = "outcome_contradiction"
	CodeTooManyMessages   = "too_many_messages"
	CodeInvalidTime       = "invalid_time"
)

// ReportStepOutcome has the result of a step judged by ordinary acceptance: the one in
// extensions.agentxchain.turn_result (an object, or its JSON text when the bytes matter), else the
// one derived from the protocol's own members. A refused result sends the turn back for another
// attempt, as the run loop does; the lease is then rejected. A repeated outcome with the same token
// gets the same answer.
func (s *Server) ReportStepOutcome(ctx context.Context,
	req *pb.ReportStepOutcomeRequest) (*pb.ReportStepOutcomeResponse, error) {
	out := s.newOutcomeResponse()
	h, err := s.holder(req)
	if err == nil {
		_, err = s.r.CheckLease(ctx, h)
	}
	switch lease.Refusal(err) {
	case run.RejectTerminal, run.RejectSuperseded: // but not of a turn that has changed hands since
		if before := s.answered(ctx, h, req); before != nil {
			return before, nil
		}
	}
	if err == nil {
		var o *outcome
		if o, out.Failure, err = s.read(ctx, req, h); out.Failure != nil {
			return out, nil
		}
		if err == nil {
			err = s.settle(ctx, o, out)
		}
	}
	if err == nil {
		return out, nil
	}
	out.Failure, err = s.refused(ctx, h, "report_step_outcome", err)
	return out, err
}

func (s *Server) newOutcomeResponse() *pb.ReportStepOutcomeResponse {
	return &pb.ReportStepOutcomeResponse{ContractVersion: contractVersion, OrchestratorId: s.orchestrator()}
}

// outcome is a report that may be judged.
type outcome struct {
	h       lease.Holder
	said    string // see whole
	given   []byte // the turn's result; nil gives back the turn
	reason  string // why it is given back
	payload *ojson.Object
}

// read judges a report without its result.
func (s *Server) read(ctx context.Context, req *pb.ReportStepOutcomeRequest,
	h lease.Holder) (*outcome, *pb.FailureDetail, error) {
	if bad := inadmissible(req); bad != nil {
		return nil, bad, nil
	}
	o := &outcome{h: h, said: whole(req, reported(req))}
	var bad *pb.FailureDetail
	if o.payload, bad = progress(req.Events, req.Artifacts); bad != nil {
		return nil, bad, nil
	}
	if o.given, bad = turnResult(req.Extensions); bad != nil {
		return nil, bad, nil
	}
	if bad = contradiction(req, o.given); bad != nil {
		return nil, bad, nil
	}
	switch {
	case o.given != nil:
	case req.Status == pb.PlanStatus_CANCELLED:
		o.reason = cmp.Or(oneLine(req.GetFailure().GetMessage(), 1000), "the runner has cancelled the step")
	case req.Status == pb.PlanStatus_COMPLETE && req.RunOutcome == nil && len(req.Artifacts) == 0:
		bad = failure("validation", CodeTurnResultMissing, "A complete outcome carries artifacts and a run_outcome, "+
			"or the turn's result in extensions.agentxchain.turn_result; this one has none of them.", nil)
	default:
		evidence, err := fromStruct(req.GetRunOutcome().GetEvidence())
		if err != nil {
			return nil, failure("validation", wire.CodeInvalidJSON,
				"The evidence of run_outcome cannot be read: "+oneLine(err.Error(), 300), nil), nil
		}
		o.given, err = s.derive(ctx, req, evidence, h)
		return o, nil, err
	}
	return o, bad, nil
}

func inadmissible(req *pb.ReportStepOutcomeRequest) *pb.FailureDetail {
	switch req.Status {
	case pb.PlanStatus_COMPLETE, pb.PlanStatus_FAILED, pb.PlanStatus_CANCELLED:
	default:
		return failure("validation", CodeStatusInadmissble,
			"The status of an outcome is complete, failed or cancelled.", nil)
	}
	for _, d := range decisions(req.GetRunOutcome()) {
		if _, known := pb.OutcomeDecision_name[int32(d)]; !known {
			return failure("validation", CodeStatusInadmissble,
				fmt.Sprintf("run_outcome has a decision that %s does not know: %d.", contractVersion, d), nil)
		}
	}
	if usd := req.GetRunOutcome().GetEstimatedCostUsd(); !(usd >= 0) || math.IsInf(usd, 1) {
		return failure("validation", wire.CodeInvalidArgument,
			fmt.Sprintf("estimated_cost_usd is not a number of dollars: %v.", usd), nil)
	}
	return badTime("finished_at", req.FinishedAt)
}

// contradiction refuses a report whose parts disagree on whether the step is done. When one part is
// only stricter than another, as complete together with a result that says blocked, the stricter
// one counts.
func contradiction(req *pb.ReportStepOutcomeRequest, result []byte) *pb.FailureDetail {
	no := func(format string, args ...any) *pb.FailureDetail {
		return failure("validation", CodeContradiction, fmt.Sprintf(format, args...), nil)
	}
	status := strings.ToLower(req.Status.String())
	done := false
	if result != nil && resultStatus(result) == wire.ResultCompleted {
		if done = true; req.Status != pb.PlanStatus_COMPLETE {
			return no("The status of the outcome is %s, and its turn_result says %s.", status, wire.ResultCompleted)
		}
	}
	ro := req.GetRunOutcome()
	final, of, decision := ro.GetFinalDecision(), ro.GetTaskId(), strictest(ro)
	switch {
	case of != "" && of != req.GetLease().GetTaskId():
		return no("The run_outcome is of task %q, and the lease is not.", oneLine(of, 80))
	case req.Status == pb.PlanStatus_COMPLETE && (done || result == nil) && req.Failure != nil:
		return no("The status of the outcome is complete, and it carries the failure %s.",
			oneLine(cmp.Or(req.Failure.Code, req.Failure.Class, "without a code"), 80))
	case final == pb.OutcomeDecision_ACCEPT && decision != final:
		return no("The final decision of run_outcome is accept, and one of the decisions it rests on is %s.",
			strings.ToLower(decision.String()))
	case done && decision > pb.OutcomeDecision_ACCEPT:
		return no("The turn_result says completed, and a decision of run_outcome is %s.",
			strings.ToLower(decision.String()))
	case req.Status != pb.PlanStatus_COMPLETE && final == pb.OutcomeDecision_ACCEPT:
		return no("The status of the outcome is %s, and the final decision of run_outcome is accept.", status)
	}
	return nil
}

// resultStatus returns what a result says about its turn. Normalisation reads synonyms of completed as completed. A
// document that is not an object is refused later, whatever it says.
func resultStatus(result []byte) string {
	doc, err := ojson.DecodeObject(result)
	if err != nil {
		return ""
	}
	switch said := strings.ToLower(strings.TrimSpace(doc.String("status"))); said {
	case wire.ResultBlocked, wire.ResultNeedsHuman, wire.ResultFailed:
		return said
	}
	return wire.ResultCompleted
}

// strictest returns the decision of an outcome that weighs most: a final decision cannot override a
// denial by one of the three that it rests on.
func strictest(o *pb.RunOutcome) pb.OutcomeDecision {
	given := decisions(o)
	for _, d := range []pb.OutcomeDecision{
		pb.OutcomeDecision_REJECT, pb.OutcomeDecision_ESCALATE, pb.OutcomeDecision_ITERATE, pb.OutcomeDecision_ACCEPT,
	} {
		if slices.Contains(given, d) {
			return d
		}
	}
	return pb.OutcomeDecision_OUTCOME_DECISION_UNSPECIFIED
}

func decisions(o *pb.RunOutcome) []pb.OutcomeDecision {
	return []pb.OutcomeDecision{o.GetFinalDecision(), o.GetObjectiveDecision(), o.GetCostDecision(), o.GetRiskDecision()}
}

// settle records what came with the result, then has the result judged. An error is a refusal that
// ended nothing; a refusal that ended the lease is in out.
func (s *Server) settle(ctx context.Context, o *outcome, out *pb.ReportStepOutcomeResponse) error {
	if o.payload != nil && !s.parked.has(o.h.Ref.FencingToken) {
		if err := s.patiently(ctx,
			func() error { _, err := s.r.ReportProgress(ctx, o.h, o.payload); return err }); err != nil {
			return err
		}
	}
	if o.given == nil {
		return s.giveBack(ctx, o, out)
	}
	res, sent, err := s.acceptInTime(ctx, o)
	if res == nil && sent == nil {
		return err
	}
	return s.answer(ctx, o, res, sent, err, out)
}

// answer tells a runner about a result that ended its lease, and remembers that for repeated
// reports.
func (s *Server) answer(ctx context.Context, o *outcome, res *runner.Accepted, sent *sentBack, err error,
	out *pb.ReportStepOutcomeResponse) error {
	if res != nil {
		out.Accepted = true
		out.Extensions = ext("turn_id", o.h.Ref.StepID, "run_status", string(res.State.Status),
			"phase", res.State.Phase)
	} else {
		if out.Failure, err = s.refused(ctx, o.h, "report_step_outcome", err); err != nil {
			return err
		}
		out.Failure.Details.Fields["retryable"] = structpb.NewBoolValue(sent.again)
	}
	s.told.put(o.h, o.said, out)
	return nil
}

// giveBack releases the lease of a step that its runner has cancelled: there is no result to judge,
// and the turn may be leased again.
func (s *Server) giveBack(ctx context.Context, o *outcome, out *pb.ReportStepOutcomeResponse) error {
	var res *runner.Leased
	if err := s.patiently(ctx, func() (err error) {
		res, err = s.r.ReleaseLease(ctx, o.h, "cancelled: "+o.reason)
		return err
	}); err != nil {
		return err
	}
	out.Accepted = true
	out.Extensions = ext("turn_id", o.h.Ref.StepID, "run_status", string(res.State.Status), "phase", res.State.Phase)
	s.told.put(o.h, o.said, out)
	return nil
}

// accept judges a result once. sent says what became of a turn whose result was refused, nil when
// the lease still holds.
func (s *Server) accept(ctx context.Context, o *outcome) (res *runner.Accepted, sent *sentBack, err error) {
	err = s.patiently(ctx, func() (err error) {
		res, err = s.r.AcceptTurn(ctx, runner.AcceptOptions{
			TurnID:  o.h.Ref.StepID,
			Lease:   &o.h,
			Result:  o.given,
			Patient: s.others(ctx, o.h.Ref.StepID),
		})
		return err
	})
	if res != nil && res.Result != nil && res.Result.Entry != nil {
		// Accepted, whatever a hook reported afterwards.
		if !s.opt.NoCheckpoint && len(res.Result.Entry.Strings("files_changed")) > 0 {
			_ = s.checkpoint(ctx, o.h.Ref.StepID) // if it fails, the next runner that asks for work is told
		}
		return res, nil, nil
	}
	if err == nil {
		return nil, nil, nil
	}
	return nil, s.sendBack(ctx, o.h, err), err
}

// others reports whether other turns are active: changes in the work tree may be theirs.
func (s *Server) others(ctx context.Context, turn string) bool {
	v, err := s.r.View(ctx)
	return err == nil &&
		(v.State.ActiveTurns.Len() > 1 || v.State.ActiveTurns.Len() == 1 && !v.State.ActiveTurns.Has(turn))
}

// sentBack says what became of a turn whose result was refused.
type sentBack struct{ again bool } // another attempt follows

// sendBack starts another attempt of a turn whose result was refused; nil when the refusal leaves
// the turn with its holder.
func (s *Server) sendBack(ctx context.Context, h lease.Holder, refusal error) *sentBack {
	v, err := s.r.View(ctx)
	if err != nil {
		return nil
	}
	turn, active := v.State.ActiveTurns.Get(h.Ref.StepID)
	if !active || v.State.Status != runner.StatusActive {
		return nil
	}
	code := runner.ErrorCode(refusal)
	switch {
	case turn.Status == wire.TurnFailedAcceptance, turn.Status == wire.TurnConflicted:
	case code == wire.CodeInvalidJSON, code == wire.CodeStagedMissing, code == wire.CodeStaleStaging:
	default:
		return nil
	}
	opt := runner.RejectOptions{
		TurnID:   turn.TurnID,
		Stage:    "validation",
		Reason:   oneLine(refusal.Error(), 2000),
		Reassign: turn.Status == wire.TurnConflicted,
		Lease:    &h,
	}
	if e, ok := errors.AsType[*wire.Error](refusal); ok {
		if e.Stage != "" {
			opt.Stage = e.Stage
		}
		opt.Errors = wire.Problems(e.Problems).Messages()
	}
	// If it fails, the next runner that asks for work has it sent back.
	var out *runner.Rejected
	if s.patiently(ctx, func() (err error) { out, err = s.r.RejectTurn(ctx, opt); return err }) != nil {
		return nil
	}
	return &sentBack{out.State.Status == runner.StatusActive && out.State.ActiveTurns.Has(turn.TurnID)}
}

// turnResult returns the result in an outcome's extensions, nil for none. Text that is not a JSON
// object is still the agent's work: acceptance refuses it, and the attempt is spent. As a mistake
// of the report it would be repeated for ever.
func turnResult(extensions *structpb.Struct) ([]byte, *pb.FailureDetail) {
	own := extensions.GetFields()["agentxchain"].GetStructValue()
	switch v := own.GetFields()["turn_result"].GetKind().(type) {
	case *structpb.Value_StructValue:
		o, err := fromStruct(v.StructValue)
		if err != nil {
			return nil, failure("validation", wire.CodeInvalidJSON,
				"extensions.agentxchain.turn_result cannot be read: "+oneLine(err.Error(), 300), nil)
		}
		return ojson.Pretty(o), nil
	case *structpb.Value_StringValue:
		return []byte(v.StringValue), nil
	case nil, *structpb.Value_NullValue:
		return nil, nil
	}
	return nil, failure("validation", wire.CodeInvalidJSON,
		"extensions.agentxchain.turn_result is neither an object nor the JSON text of one.", nil)
}

// progress returns the payload with which events and artifacts are recorded, nil for none.
func progress(events []*pb.Event, artifacts []*pb.Artifact) (*ojson.Object, *pb.FailureDetail) {
	if len(events)+len(artifacts) == 0 {
		return nil, nil
	}
	if len(events)+len(artifacts) > maxMessages {
		return nil, failure("validation", CodeTooManyMessages,
			fmt.Sprintf("One report holds at most %d events and artifacts.", maxMessages), nil)
	}
	out := &ojson.Object{}
	if bad := setMessages(out, "events", "An event", events); bad != nil {
		return nil, bad
	}
	if bad := setMessages(out, "artifacts", "An artifact", artifacts); bad != nil {
		return nil, bad
	}
	return out, nil
}

// setMessages sets a member to a list of messages, unless it is empty; what is one of them in a refusal.
func setMessages[M proto.Message](out *ojson.Object, member, what string, messages []M) *pb.FailureDetail {
	var list []*ojson.Object
	for _, m := range messages {
		o, err := messageObject(m)
		if err != nil {
			return failure("validation", wire.CodeInvalidArgument,
				what+" cannot be recorded: "+oneLine(err.Error(), 300), nil)
		}
		list = append(list, o)
	}
	if list != nil {
		out.Set(member, list)
	}
	return nil
}
