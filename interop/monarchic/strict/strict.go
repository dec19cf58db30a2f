// What all types of the strict family share.

package strict

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// Version is the only valid contract_version.
const Version = "v1"

// Document is every type that may be a document on its own.
type Document interface {
	Intent | PlanStep | Plan | ArtifactDescriptor | DigestManifest | ExecutionReceipt |
		VerificationReceipt | BlockedOutcome | ReviewDecision | RerunScope |
		RerunExecutionResult | PrLifecycleState | RunEventRecord | Task | TaskMessage |
		CampaignPipelineSpec | FencingToken | Lease | RecoveryEvent | ManualOverrideRecord |
		PrincipalRef | TenantRef | AuthContext | UsageRecord | AuditExportManifest |
		RunLifecycleState | StepLifecycleState | LeaseRejectionReason
}

// From reads a document from its JSON value. The error is wire.Problems.
func From[T Document](v ojson.Value) (*T, error) {
	dst := new(T)
	if err := wire.Decode(v, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// Validate checks a value made by a program against every rule that reading it would apply. The
// error is wire.Problems.
func Validate[T Document](v *T) error {
	_, err := From[T](wire.Encode(v))
	return err
}

// report reports one broken rule of an object.
type report = func(member, rule, text string)

// notEmpty refuses members that are blank; what precedes each member's name in the text.
func notEmpty(tell report, what string, members ...string) {
	for i := 0; i+1 < len(members); i += 2 {
		if blank(members[i+1]) {
			tell(members[i], wire.RuleEmpty, what+" "+members[i]+" must not be empty")
		}
	}
}
