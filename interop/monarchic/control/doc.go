// The purpose of the package, and what it leaves in the run.

// Package control serves RunnerControlService (docs/leases.md#the-calls.8): runners on this and
// other machines register, lease turns of the run, report progress and hand in results. The
// service's promises rest on the leases of package runner: a ref for each, moved in the same git
// transaction as the run, so that a runner whose lease has ended cannot complete a step, however
// late its request comes.
//
// Every result goes through ordinary acceptance. The status of a reported outcome
// skips no validation, no gate and no policy.
//
// # What it leaves in the run
//
// Rows of type runner_lease in events.jsonl (run.EventLease), one for everything
// that happens to a lease except activation and renewals within the turn's deadline.
// The payload is
//
//	{"action": "issued", "lease": {…}, "recovery": {…}, "reason": "…"}
//
// lease is the strict Lease after the action (absent for started and reloaded); recovery is the
// strict RecoveryEvent of the action and absent when nothing was recovered; reason is absent
// without one.
//
//	action                      recovery.kind
//	issued, renewed, released   -
//	restored                    lease_restored
//	expired, cancelled          step_requeued
//	rejected                    step_requeued
//	refused                     lease_rejected, with lease_rejection_reason
//	cancellation_requested      cancellation_requested
//	cancellation_acknowledged   cancellation_acknowledged
//	started, reloaded           orchestrator_started, state_reloaded
//
// A lease that expired before a command without a lease acted on the turn has no row for its end:
// readers compare expires_at_ms with the rows that follow. Progress is recorded as
// dispatch_progress, with the members events and artifacts in the payload (canonical JSON of the
// messages).
//
// The newest lease of an active turn is noted in the turn's member "lease"; the lease
// itself is the file lease.json at refs/agentxchain/leases/<run>/<turn>.
package control
