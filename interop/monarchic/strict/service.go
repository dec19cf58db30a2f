// Service boundary: who calls, what they used, what was exported (docs/monarchic.md#types).

package strict

import "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

// PrincipalRef names a caller.
type PrincipalRef struct {
	PrincipalID string  `json:"principal_id"`
	Provider    string  `json:"provider"`
	DisplayName *string `json:"display_name" wire:"omit"`
}

// TenantRef names the party on whose behalf a caller acts.
type TenantRef struct {
	TenantID    string  `json:"tenant_id"`
	DisplayName *string `json:"display_name" wire:"omit"`
}

// AuthContext says how a caller proved its identity. Times are Unix milliseconds.
type AuthContext struct {
	ContractVersion string        `json:"contract_version" wire:"default=v1"`
	AuthContextID   string        `json:"auth_context_id"`
	Principal       PrincipalRef  `json:"principal"`
	Tenant          TenantRef     `json:"tenant"`
	Mechanism       AuthMechanism `json:"mechanism"`
	CredentialID    string        `json:"credential_id"`
	Scopes          []string      `json:"scopes" wire:"default"`
	IssuedAt        uint64        `json:"issued_at"`
	ExpiresAt       *uint64       `json:"expires_at" wire:"omit"`
}

// Check checks the context against the rules of docs/monarchic.md#types.
func (c *AuthContext) Check(tell report) {
	notEmpty(tell, "auth context", "contract_version", c.ContractVersion, "credential_id", c.CredentialID)
	if c.Mechanism == "unspecified" {
		tell("mechanism", wire.RuleEnum, "auth context mechanism must not be unspecified")
	}
	if c.ExpiresAt != nil && *c.ExpiresAt < c.IssuedAt {
		tell("expires_at", wire.RuleState, "auth context ends before it begins")
	}
}

// UsageRecord says how much of something was used. RecordedAt is Unix
// milliseconds.
type UsageRecord struct {
	ContractVersion string        `json:"contract_version" wire:"default=v1"`
	UsageID         string        `json:"usage_id"`
	Principal       PrincipalRef  `json:"principal"`
	Tenant          TenantRef     `json:"tenant"`
	RunID           *string       `json:"run_id" wire:"omit"`
	PlanID          *string       `json:"plan_id" wire:"omit"`
	Category        UsageCategory `json:"category"`
	MetricName      string        `json:"metric_name"`
	Quantity        uint64        `json:"quantity"`
	Unit            UsageUnit     `json:"unit"`
	RecordedAt      uint64        `json:"recorded_at"`
}

// Check checks the record against the rules of docs/monarchic.md#types.
func (r *UsageRecord) Check(tell report) {
	notEmpty(tell, "usage record", "contract_version", r.ContractVersion)
	if r.Category == "unspecified" {
		tell("category", wire.RuleEnum, "usage record category must not be unspecified")
	}
	if r.Unit == "unspecified" {
		tell("unit", wire.RuleEnum, "usage record unit must not be unspecified")
	}
	if r.Quantity == 0 {
		tell("quantity", wire.RuleState, "usage record quantity must be more than 0")
	}
}

// AuditExportManifest lists what was exported from a run. ExportedAt is Unix milliseconds.
type AuditExportManifest struct {
	ContractVersion     string               `json:"contract_version" wire:"default=v1"`
	ExportID            string               `json:"export_id"`
	Principal           PrincipalRef         `json:"principal"`
	Tenant              TenantRef            `json:"tenant"`
	RunID               string               `json:"run_id"`
	PlanID              string               `json:"plan_id"`
	ExportedAt          uint64               `json:"exported_at"`
	CombinedDigest      string               `json:"combined_digest"`
	ArtifactDescriptors []ArtifactDescriptor `json:"artifact_descriptors"`
}

// Check checks the manifest against the rules of docs/monarchic.md#types.
func (m *AuditExportManifest) Check(tell report) {
	notEmpty(tell, "audit export manifest", "contract_version", m.ContractVersion)
	if len(m.ArtifactDescriptors) == 0 {
		tell("artifact_descriptors", wire.RuleEmpty,
			"audit export manifest must include at least one artifact_descriptor")
	}
}
