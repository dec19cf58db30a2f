// Package pbjson goes between the JSON objects of the protocol and its protobuf
// messages, field by field (spec/08 §0.4, §1). A member is the field of its
// name. A member without a field goes into extensions, which is where the
// protocol wants additional properties, and comes back from there only if the
// type has a member of its name; protobuf keeps no order and no spelling.
package pbjson

import (
	"reflect"

	"google.golang.org/protobuf/proto"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// Portable is the portable types that have a protobuf message, which is called
// as they are.
type Portable interface {
	portable.Task | portable.RunContext | portable.Artifact | portable.Event | portable.GateResult |
		portable.RunOutcome | portable.TaskMessage | portable.TaskMessageAck | portable.FailureClass |
		portable.FailureDetail | portable.RoleProvenance | portable.PlanProvenance | portable.PlanStep |
		portable.Plan | portable.ExecutionReceipt | portable.DatasetRef | portable.AcceptanceCriteria |
		portable.ExperimentSpec | portable.ObjectiveSpec | portable.EvalResult | portable.Provenance
}

// Strict is the strict types that have a protobuf message. The receipt of a
// step has none: the message of that name is the portable receipt.
type Strict interface {
	strict.Intent | strict.PlanStep | strict.Plan | strict.ArtifactDescriptor | strict.DigestManifest |
		strict.VerificationCheck | strict.BlockedOutcome | strict.VerificationReceipt | strict.ReviewDecision |
		strict.RerunScope | strict.RerunExecutionResult | strict.PrLifecycleState | strict.RunEventRecord |
		strict.TaskMessage | strict.FencingToken | strict.Lease | strict.RecoveryEvent |
		strict.PrincipalRef | strict.TenantRef | strict.AuthContext
}

// FromPortable fills msg, the message of T, from v. The error is wire.Problems:
// what protobuf cannot carry without loss.
func FromPortable[T Portable](v *T, msg proto.Message) error { return write(v, msg) }

// ToPortable reads msg, the message of T. The error is wire.Problems.
func ToPortable[T Portable](msg proto.Message) (*T, error) {
	dst := new(T)
	if err := read(msg, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// FromStrict fills msg, the message of T, from v, like FromPortable.
func FromStrict[T Strict](v *T, msg proto.Message) error { return write(v, msg) }

// ToStrict reads msg, the message of T, and holds it against the rules of T; a
// field T has no member for breaks them. The error is wire.Problems.
func ToStrict[T Strict](msg proto.Message) (*T, error) {
	dst := new(T)
	if err := read(msg, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// fieldName is the protobuf name of a member. The strict family calls three of
// them otherwise.
func fieldName(t reflect.Type, member string) string {
	switch t {
	case reflect.TypeFor[strict.Plan]():
		if member == "created_at" {
			return "created_at_ms"
		}
	case reflect.TypeFor[strict.PlanStep]():
		if member == "dependencies" {
			return "depends_on"
		}
	case reflect.TypeFor[strict.VerificationReceipt]():
		if member == "verified_at" {
			return "verified_at_ms"
		}
	}
	return member
}

// isMessageOf reports whether msg is the message of the struct type t.
func isMessageOf(t reflect.Type, msg proto.Message) bool {
	return msg.ProtoReflect().IsValid() && string(msg.ProtoReflect().Descriptor().Name()) == t.Name()
}

func wrongMessage(t reflect.Type) error {
	return wire.Problems{{Rule: wire.RuleType, Text: "is no " + t.Name() + " message"}}
}
