// Refusals as messages: FailureDetail, LeaseRejectionReason, gRPC codes (docs/monarchic-export.md#kinds).

package control

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// rejectionReason returns the wire value of a reason.
func rejectionReason(reason string) pb.LeaseRejectionReason {
	n, _ := strict.LeaseRejectionReason("").Set().Number(reason)
	return pb.LeaseRejectionReason(n)
}

// reasonToken returns the JSON spelling of a wire value, which logs use (docs/leases.md).
func reasonToken(reason pb.LeaseRejectionReason) string {
	return strict.LeaseRejectionReason("").Set().Token(int32(reason))
}

// refused turns a refusal into the answer's failure; a failure of the server itself stays an error
// of the call. A refused lease is recorded.
func (s *Server) refused(ctx context.Context, h lease.Holder, asked string,
	err error) (*pb.FailureDetail, error) {
	if err == nil {
		return nil, nil
	}
	var refusal *wire.Error
	if !errors.As(err, &refusal) {
		return nil, failed(err)
	}
	details := refusal.ErrorDetails()
	if command := refusal.ExplainCommand(); command != "" {
		details.Set("explain", command)
	}
	if reason := lease.Refusal(err); reason != "" {
		s.recordRefusal(ctx, h, reason, asked)
		return failure("policy", reason, refusal.Message, details), nil
	}
	if refusal.Hint != "" && !details.Has("next_action") {
		details.Set("next_action", refusal.Hint)
	}
	return failure(classOf(refusal), refusal.Code, refusal.Message, details), nil
}

// classOf returns the FailureDetail class of an engine's refusal.
func classOf(e *wire.Error) string {
	switch e.Stage {
	case "schema", "assignment", "protocol":
		return "validation"
	case "artifact", "verification":
		return "execution"
	}
	switch e.Code {
	case wire.CodeInvalidArgument, wire.CodeInvalidJSON, wire.CodeValidationFailed, wire.CodeStagedMissing,
		wire.CodeStaleStaging:
		return "validation"
	case wire.CodePolicyViolation, wire.CodePolicyEscalation, wire.CodeHookBlocked, wire.CodeRunBlocked,
		wire.CodeAwaitingApproval, wire.CodeBudgetExhausted, wire.CodeInsideTurn:
		return "policy"
	case wire.CodeConflict, wire.CodeDirtyTreeMismatch, wire.CodeUndeclaredOutputs, wire.CodeArtifactMismatch,
		wire.CodeReplayDrift, runner.CodeSiblingsAtWork:
		return "execution"
	}
	return "unknown"
}

const maxDetails = 64 << 10

// failure returns a FailureDetail without details that are too large. Its details have retryable:
// whether the step may be tried again. Faults of a report or a result can be corrected; what a
// policy or a lease forbids stays forbidden.
func failure(class, code, message string, details *ojson.Object) *pb.FailureDetail {
	out := &pb.FailureDetail{
		Class:   class,
		Code:    cmp.Or(code, "failed"),
		Message: cmp.Or(strings.ToValidUTF8(message, "\ufffd"), "refused"),
	}
	told := &ojson.Object{}
	if details != nil && len(ojson.Compact(details)) <= maxDetails {
		told = details.Clone()
	}
	if !told.Has("retryable") {
		told.Set("retryable", class == "validation" || class == "execution")
	}
	out.Details, _ = structpb.NewStruct(toMap(told))
	return out
}

// failed returns the gRPC status of an error that no answer can express.
func failed(err error) error {
	code := connect.CodeInternal
	switch runner.ErrorCode(err) {
	case "locked", "lock_lost", "ref_moved", "ref_locked", "state_moved":
		code = connect.CodeUnavailable
	case "no_run", "not_a_project", "invalid_config", "invalid_state", "ledger_tampered", "state_tampered",
		"hooks_untrusted":
		code = connect.CodeFailedPrecondition
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		code = connect.CodeDeadlineExceeded
	case errors.Is(err, context.Canceled):
		code = connect.CodeCanceled
	}
	text := oneLine(err.Error(), 2000)
	if c := runner.ErrorCode(err); c != "" {
		text = c + ": " + text
	}
	return refuse(code, "%s", text)
}

// refusals remembers which refusals are recorded, so that a runner that keeps asking does not fill
// the run.
type refusals struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

const maxRefusals = 1024

func (f *refusals) first(key string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.seen[key]; ok {
		return false
	}
	if f.seen == nil || len(f.seen) >= maxRefusals {
		f.seen = make(map[string]time.Time)
	}
	f.seen[key] = now
	return true
}

// recordRefusal records the refusal of a lease of an active turn, once.
func (s *Server) recordRefusal(ctx context.Context, h lease.Holder, reason, asked string) {
	if reason == run.RejectUnknown ||
		!s.refusals.first(h.Ref.LeaseID+"\x00"+h.Ref.FencingToken+"\x00"+h.SessionID+"\x00"+reason, s.opt.Now()) {
		return
	}
	list, _, err := s.r.Leases(ctx, "")
	if err != nil {
		return
	}
	for _, l := range list {
		if l.Lease.StepID == h.Ref.StepID {
			// An unrecorded refusal is still a refusal.
			_ = s.patiently(ctx, func() error { return s.r.RecordRefusal(ctx, h, l.Lease, reason, asked) })
			return
		}
	}
}
