// ApprovePhaseGate and ApproveCompletionGate: exactly one kind of gate each.

package runner

import "context"

// GateOptions says how a gate is approved.
type GateOptions struct {
	DryRun       bool // report what would happen; run and record nothing
	AllowActions bool // run the commands that the gate's configuration names
}

// ApprovePhaseGate passes the pending phase transition. It is a person's decision
// and refused inside a dispatched turn. Without a pending transition the code is
// invalid_state_transition, also when a completion is pending.
func (r *Runner) ApprovePhaseGate(ctx context.Context, opt GateOptions) (*Approved, error) {
	return r.approveKind(ctx, false, opt)
}

// ApproveCompletionGate is ApprovePhaseGate for the pending completion of the run.
func (r *Runner) ApproveCompletionGate(ctx context.Context, opt GateOptions) (*Approved, error) {
	return r.approveKind(ctx, true, opt)
}

func (r *Runner) approveKind(ctx context.Context, completion bool, opt GateOptions) (*Approved, error) {
	return r.Approve(ctx, ApproveOptions{Completion: &completion, AllowActions: opt.AllowActions, DryRun: opt.DryRun})
}
