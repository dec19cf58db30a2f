// Messages, values and words of the service.

package control

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

func refOf(r *pb.LeaseRef) lease.Ref {
	return lease.Ref{
		LeaseID:      r.GetLeaseId(),
		FencingToken: r.GetFencingToken(),
		RunID:        r.GetRunId(),
		PlanID:       r.GetPlanId(),
		StepID:       r.GetStepId(),
		TaskID:       r.GetTaskId(),
	}
}

func refMessage(r lease.Ref) *pb.LeaseRef {
	return &pb.LeaseRef{
		LeaseId:      r.LeaseID,
		FencingToken: r.FencingToken,
		RunId:        r.RunID,
		PlanId:       r.PlanID,
		StepId:       r.StepID,
		TaskId:       r.TaskID,
	}
}

func leaseMessage(l *runner.Lease) *pb.Lease {
	out := &pb.Lease{
		LeaseId:   l.LeaseID,
		RunId:     l.RunID,
		PlanId:    l.PlanID,
		StepId:    l.StepID,
		TaskId:    l.TaskID,
		RunnerId:  l.RunnerID,
		SessionId: l.SessionID,
		FencingToken: &pb.FencingToken{
			Token:      l.FencingToken.Token,
			IssuedAtMs: uint64(max(0, l.FencingToken.IssuedAtMS)),
			Issuer:     l.FencingToken.Issuer,
			Scope:      l.FencingToken.Scope,
		},
		IssuedAtMs:  uint64(max(0, l.IssuedAtMS)),
		ExpiresAtMs: uint64(max(0, l.ExpiresAtMS)),
	}
	status, _ := strict.LeaseLifecycleState("").Set().Number(l.Status)
	out.Status = pb.LeaseLifecycleState(status)
	if l.Extensions != nil {
		out.Extensions, _ = structpb.NewStruct(toMap(l.Extensions))
	}
	return out
}

// toMap returns an object as plain Go values, for structpb. JSON numbers that a double cannot hold
// become strings rather than other numbers.
func toMap(o *ojson.Object) map[string]any {
	out := make(map[string]any)
	for k, v := range o.All() {
		out[strings.ToValidUTF8(k, "\ufffd")] = toAny(v)
	}
	return out
}

func toAny(v ojson.Value) any {
	switch v := v.(type) {
	case *ojson.Object:
		return toMap(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = toAny(v[i])
		}
		return out
	case string:
		return strings.ToValidUTF8(v, "\ufffd")
	case bool:
		return v
	case ojson.Number:
		wrapped := ojson.NewObject("n", v)
		f, ok := wrapped.Float("n")
		if !ok {
			return string(v)
		}
		return f
	}
	return nil
}

// fromStruct returns a Struct as an ordered object, members in byte order and empty for none; whole numbers are
// written as integers. A Struct may hold what JSON cannot: NaN and infinities, endless levels.
func fromStruct(s *structpb.Struct) (*ojson.Object, error) {
	if s == nil {
		return &ojson.Object{}, nil
	}
	data, err := protojson.Marshal(s)
	if err != nil {
		return nil, err
	}
	return ojson.DecodeObject(data)
}

// messageObject returns a message as JSON with the protocol's own member names.
func messageObject(m proto.Message) (*ojson.Object, error) {
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	return ojson.DecodeObject(data)
}

// badTime refuses a value that is not an RFC 3339 time; a missing one means now.
func badTime(member, at string) *pb.FailureDetail {
	if at == "" {
		return nil
	}
	if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
		return failure("validation", CodeInvalidTime,
			fmt.Sprintf("%s takes an RFC 3339 time, not %q.", member, text.Clip(at, 60)), nil)
	}
	return nil
}

// describe fills in what a log says about a call, without tokens and whole session ids.
func describe(c *Call, req, out any, err error) {
	if a, ok := req.(ask); ok {
		c.Runner = oneLine(a.GetRunnerId(), 80)
	}
	if a, ok := req.(sessionAsk); ok {
		c.Session = text.Clip(strings.TrimPrefix(oneLine(a.GetSessionId(), 80), "session-"), 6)
	}
	if a, ok := req.(leaseAsk); ok {
		c.Lease = oneLine(a.GetLease().GetLeaseId(), 120)
	}
	if err != nil {
		code, message := connect.CodeUnknown, err.Error()
		if st, ok := errors.AsType[*connect.Error](err); ok {
			code, message = st.Code(), st.Message()
		}
		c.Outcome, c.Detail = strings.ReplaceAll(code.String(), "_", ""), cmp.Or(c.Detail, oneLine(message, 300))
		return
	}
	c.Outcome = "ok"
	if f, ok := out.(interface{ GetFailure() *pb.FailureDetail }); ok && f.GetFailure() != nil {
		c.Outcome, c.Code, c.Detail = "refused", f.GetFailure().GetCode(), oneLine(f.GetFailure().GetMessage(), 300)
	}
	switch r := out.(type) {
	case *pb.AcquireLeaseResponse:
		if r.GetAssignment() == nil {
			c.Outcome = "none"
			own := r.GetExtensions().GetFields()["agentxchain"].GetStructValue().GetFields()
			c.Code, c.Detail = own["code"].GetStringValue(), oneLine(own["message"].GetStringValue(), 300)
		} else {
			c.Lease = r.GetAssignment().GetLease().GetLeaseId()
		}
	case *pb.ResumeLeaseResponse:
		if !r.GetAccepted() {
			c.Outcome, c.Code, c.Detail = "refused", reasonToken(r.GetReason()), oneLine(r.GetMessage(), 300)
		}
	}
}

// safeName accepts a name that a runner may have: it is written to logs, to the contents of refs
// and to files.
func safeName(s string) bool {
	return s != "" && len(s) <= maxName && s != "." && s != ".." && !strings.ContainsAny(s, "/\\") &&
		strings.IndexFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || unicode.IsControl(r) }) < 0
}

func millis(d time.Duration) uint64 { return uint64(max(0, d.Milliseconds())) }

// oneLine turns a text into one harmless line.
func oneLine(s string, n int) string {
	return text.Clip(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "), n)
}
