// encoding/json goes through the codec: a program that uses it neither loses
// members it does not know nor the lenient reading.

package portable

import "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

func (t TaskMessage) MarshalJSON() ([]byte, error)     { return wire.Marshal(&t) }
func (t *TaskMessage) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, t) }

func (t TaskMessageAck) MarshalJSON() ([]byte, error)     { return wire.Marshal(&t) }
func (t *TaskMessageAck) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, t) }

func (s SkillRef) MarshalJSON() ([]byte, error)     { return wire.Marshal(&s) }
func (s *SkillRef) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, s) }

func (d TaskDependency) MarshalJSON() ([]byte, error)     { return wire.Marshal(&d) }
func (d *TaskDependency) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, d) }

func (p PipelineTask) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *PipelineTask) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (p PipelineSpec) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *PipelineSpec) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (r RoleDefinition) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RoleDefinition) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (r ResolvedRoleBundle) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *ResolvedRoleBundle) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (r RoleProvenance) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RoleProvenance) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (p PlanProvenance) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *PlanProvenance) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (s StepOutput) MarshalJSON() ([]byte, error)     { return wire.Marshal(&s) }
func (s *StepOutput) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, s) }

func (r ReplanPolicy) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *ReplanPolicy) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (p PlanStep) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *PlanStep) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (p Plan) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *Plan) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (r ResolvedRunner) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *ResolvedRunner) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (e ExecutionReceipt) MarshalJSON() ([]byte, error)     { return wire.Marshal(&e) }
func (e *ExecutionReceipt) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, e) }

func (d DatasetRef) MarshalJSON() ([]byte, error)     { return wire.Marshal(&d) }
func (d *DatasetRef) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, d) }

func (a AcceptanceCriteria) MarshalJSON() ([]byte, error)     { return wire.Marshal(&a) }
func (a *AcceptanceCriteria) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, a) }

func (e ExperimentSpec) MarshalJSON() ([]byte, error)     { return wire.Marshal(&e) }
func (e *ExperimentSpec) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, e) }

func (o ObjectiveSpec) MarshalJSON() ([]byte, error)     { return wire.Marshal(&o) }
func (o *ObjectiveSpec) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, o) }

func (e EvalResult) MarshalJSON() ([]byte, error)     { return wire.Marshal(&e) }
func (e *EvalResult) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, e) }

func (p Provenance) MarshalJSON() ([]byte, error)     { return wire.Marshal(&p) }
func (p *Provenance) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, p) }

func (d DeliveryContract) MarshalJSON() ([]byte, error)     { return wire.Marshal(&d) }
func (d *DeliveryContract) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, d) }

func (r RunContext) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RunContext) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }

func (t Task) MarshalJSON() ([]byte, error)     { return wire.Marshal(&t) }
func (t *Task) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, t) }

func (a Artifact) MarshalJSON() ([]byte, error)     { return wire.Marshal(&a) }
func (a *Artifact) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, a) }

func (e Event) MarshalJSON() ([]byte, error)     { return wire.Marshal(&e) }
func (e *Event) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, e) }

func (g GateResult) MarshalJSON() ([]byte, error)     { return wire.Marshal(&g) }
func (g *GateResult) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, g) }

func (f FailureClass) MarshalJSON() ([]byte, error)     { return wire.Marshal(&f) }
func (f *FailureClass) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, f) }

func (f FailureDetail) MarshalJSON() ([]byte, error)     { return wire.Marshal(&f) }
func (f *FailureDetail) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, f) }

func (r RunOutcome) MarshalJSON() ([]byte, error)     { return wire.Marshal(&r) }
func (r *RunOutcome) UnmarshalJSON(data []byte) error { return wire.Unmarshal(data, r) }
