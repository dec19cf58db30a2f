// encoding/json goes through the codec: a program that uses it gets the closed
// reading and the declared order of members.

package strict

import "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

func (g CampaignGate) MarshalJSON() ([]byte, error)     { return wire.Marshal(&g) }
func (g *CampaignGate) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, g) }

func (c CampaignGatePolicy) MarshalJSON() ([]byte, error)     { return wire.Marshal(&c) }
func (c *CampaignGatePolicy) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, c) }

func (c CampaignConnection) MarshalJSON() ([]byte, error)     { return wire.Marshal(&c) }
func (c *CampaignConnection) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, c) }

func (s SkillBinding) MarshalJSON() ([]byte, error)     { return wire.Marshal(&s) }
func (s *SkillBinding) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, s) }

func (p FilesystemPolicy) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *FilesystemPolicy) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (t CampaignTask) MarshalJSON() ([]byte, error)     { return wire.Marshal(&t) }
func (t *CampaignTask) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, t) }

func (s CampaignPipelineSpec) MarshalJSON() ([]byte, error)     { return wire.Marshal(&s) }
func (s *CampaignPipelineSpec) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, s) }

func (i Intent) MarshalJSON() ([]byte, error)     { return wire.Marshal(&i) }
func (i *Intent) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, i) }

func (s StepOutput) MarshalJSON() ([]byte, error)     { return wire.Marshal(&s) }
func (s *StepOutput) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, s) }

func (p PlanStep) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *PlanStep) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (r ReplanPolicy) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *ReplanPolicy) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (p Plan) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *Plan) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (a ArtifactDescriptor) MarshalJSON() ([]byte, error)     { return wire.Marshal(&a) }
func (a *ArtifactDescriptor) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, a) }

func (m DigestManifest) MarshalJSON() ([]byte, error)     { return wire.Marshal(&m) }
func (m *DigestManifest) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, m) }

func (t FencingToken) MarshalJSON() ([]byte, error)     { return wire.Marshal(&t) }
func (t *FencingToken) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, t) }

func (l Lease) MarshalJSON() ([]byte, error)     { return wire.Marshal(&l) }
func (l *Lease) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, l) }

func (r RecoveryEvent) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RecoveryEvent) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (r ManualOverrideRecord) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *ManualOverrideRecord) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (r ResolvedRunner) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *ResolvedRunner) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (e ExecutionReceipt) MarshalJSON() ([]byte, error)     { return wire.Marshal(&e) }
func (e *ExecutionReceipt) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, e) }

func (v VerificationCheck) MarshalJSON() ([]byte, error)     { return wire.Marshal(&v) }
func (v *VerificationCheck) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, v) }

func (b BlockedOutcome) MarshalJSON() ([]byte, error)     { return wire.Marshal(&b) }
func (b *BlockedOutcome) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, b) }

func (r VerificationReceipt) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *VerificationReceipt) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (r ReviewDecision) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *ReviewDecision) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (r RerunScope) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RerunScope) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (r RerunExecutionResult) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RerunExecutionResult) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (p PrLifecycleState) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *PrLifecycleState) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (r RunEventRecord) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RunEventRecord) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (c RunContext) MarshalJSON() ([]byte, error)     { return wire.Marshal(&c) }
func (c *RunContext) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, c) }

func (r RequiredMCP) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RequiredMCP) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (t Task) MarshalJSON() ([]byte, error)     { return wire.Marshal(&t) }
func (t *Task) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, t) }

func (m TaskMessage) MarshalJSON() ([]byte, error)     { return wire.Marshal(&m) }
func (m *TaskMessage) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, m) }

func (p PrincipalRef) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *PrincipalRef) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (t TenantRef) MarshalJSON() ([]byte, error)     { return wire.Marshal(&t) }
func (t *TenantRef) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, t) }

func (c AuthContext) MarshalJSON() ([]byte, error)     { return wire.Marshal(&c) }
func (c *AuthContext) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, c) }

func (r UsageRecord) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *UsageRecord) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (m AuditExportManifest) MarshalJSON() ([]byte, error)     { return wire.Marshal(&m) }
func (m *AuditExportManifest) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, m) }
