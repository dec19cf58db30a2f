// The life cycles of runs, steps and leases, and the fencing of leases, as pure
// functions (spec/08 §5.1).

package strict

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// CanBecome reports whether a run may go from s to next.
func (s RunLifecycleState) CanBecome(next RunLifecycleState) bool {
	switch s {
	case RunPending:
		return next == RunExecuting
	case RunExecuting:
		return slices.Contains([]RunLifecycleState{RunPaused, RunCancelling, RunFailed, RunComplete, RunBlocked}, next)
	case RunPaused:
		return next == RunExecuting || next == RunCancelling
	case RunCancelling:
		return next == RunCancelled
	}
	return false
}

// Final reports whether a run stays in s for ever.
func (s RunLifecycleState) Final() bool {
	return s == RunCancelled || s == RunFailed || s == RunComplete || s == RunBlocked
}

// CanBecome reports whether a step may go from s to next.
func (s StepLifecycleState) CanBecome(next StepLifecycleState) bool {
	switch s {
	case StepStatePending:
		return next == StepStateReady
	case StepStateReady:
		return next == StepStateLeased
	case StepStateLeased:
		return next == StepStateRunning || next == StepStateCancelled || next == StepStateBlocked
	case StepStateRunning:
		return next.Final()
	}
	return false
}

// Final reports whether a step stays in s for ever.
func (s StepLifecycleState) Final() bool {
	return s == StepStateComplete || s == StepStateFailed || s == StepStateCancelled || s == StepStateBlocked
}

// CanBecome reports whether a lease may go from s to next.
func (s LeaseLifecycleState) CanBecome(next LeaseLifecycleState) bool {
	switch s {
	case LeaseIssued:
		return next == LeaseActive || next != LeaseReleased && next.Final()
	case LeaseActive:
		return next.Final()
	}
	return false
}

// Final reports whether a lease stays in s for ever.
func (s LeaseLifecycleState) Final() bool {
	return s == LeaseReleased || s == LeaseExpired || s == LeaseCancelled || s == LeaseRejected
}

// Advances reports whether t is a newer token of the same scope than old: it
// was issued strictly later. A token that changes owners must also change its
// value, which Supersedes demands.
func (t *FencingToken) Advances(old *FencingToken) bool {
	return t.Scope == old.Scope && t.IssuedAtMs > old.IssuedAtMs
}

// Supersedes reports whether t may be handed to a new owner while old was the
// last one handed out.
func (t *FencingToken) Supersedes(old *FencingToken) bool {
	return t.Advances(old) && t.Token != old.Token
}

// CheckLease returns every rule of spec/08 §5.1 a lease breaks by itself: safe
// ids, a runner, a session and a token that say something, and no end before
// the beginning.
func CheckLease(l *Lease) wire.Problems {
	var found wire.Problems
	ids := []struct{ member, id string }{{"lease_id", l.LeaseID}, {"run_id", l.RunID},
		{"plan_id", l.PlanID}, {"step_id", l.StepID}, {"task_id", l.TaskID}}
	for _, m := range ids {
		found = appendUnsafe(found, m.member, m.id)
	}
	notEmpty(collect(&found), "lease", "runner_id", l.RunnerID, "session_id", l.SessionID)
	if blank(l.FencingToken.Token) {
		found = append(found, wire.Problem{Pointer: "/fencing_token/token", Rule: wire.RuleEmpty, Text: "lease fencing token must not be empty"})
	}
	if l.IssuedAtMs > l.ExpiresAtMs {
		found = append(found, wire.Problem{Pointer: "/expires_at_ms", Rule: wire.RuleState, Text: "lease expires before it is issued"})
	}
	return found
}

// CheckLeasePlan returns what a lease and the plan it claims disagree in.
func CheckLeasePlan(l *Lease, p *Plan) wire.Problems {
	var found wire.Problems
	tell := collect(&found)
	if l.PlanID != p.PlanID {
		tell("plan_id", wire.RuleState, "lease names another plan than "+p.PlanID)
	}
	if !slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.StepID == l.StepID }) {
		tell("step_id", wire.RuleState, "lease names a step that plan "+p.PlanID+" does not have")
	}
	if !slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.TaskID == l.TaskID }) {
		tell("task_id", wire.RuleState, "lease names a task that plan "+p.PlanID+" does not have")
	}
	return found
}

// CheckExclusive returns the leases that are active although another lease of
// the same run and step is; pointers index into leases.
func CheckExclusive(leases []Lease) wire.Problems {
	type place struct{ run, step string }
	var found wire.Problems
	holder := make(map[place]string)
	for i, l := range leases {
		if l.Status != LeaseActive {
			continue
		}
		at := place{l.RunID, l.StepID}
		if other, taken := holder[at]; taken {
			found = append(found, wire.Problem{Pointer: wire.Item("", i), Rule: wire.RuleState,
				Text: "lease " + l.LeaseID + " is active while lease " + other + " of the same step is"})
			continue
		}
		holder[at] = l.LeaseID
	}
	return found
}

// CheckRecovery returns every rule of spec/08 §5.1 a recovery event breaks
// beyond its types.
func CheckRecovery(e *RecoveryEvent) wire.Problems {
	var found wire.Problems
	tell := collect(&found)
	for _, m := range []struct{ member, id string }{{"event_id", e.EventID}, {"run_id", e.RunID}, {"plan_id", e.PlanID}} {
		found = appendUnsafe(found, m.member, m.id)
	}
	if e.StepID != nil {
		found = appendUnsafe(found, "step_id", *e.StepID)
	}
	notEmpty(tell, "recovery event", "actor", e.Actor, "contract_version", e.ContractVersion)
	switch e.Kind {
	case RecoveryLeaseRejected:
		if e.LeaseRejectionReason == "" {
			tell("lease_rejection_reason", wire.RuleMissing, "a lease_rejected event must say why")
		}
	case RecoveryStepRequeued, RecoveryStepBlocked, RecoveryLeaseRestored:
		if e.StepID == nil {
			tell("step_id", wire.RuleMissing, "a "+string(e.Kind)+" event must name its step")
		}
	case RecoveryRunRecovered:
		if e.RunState == "" {
			tell("run_state", wire.RuleMissing, "a run_recovered event must say which state the run is in")
		}
	}
	if e.StepState != "" && e.StepID == nil && !slices.ContainsFunc(found, func(p wire.Problem) bool { return p.Pointer == "/step_id" }) {
		tell("step_id", wire.RuleMissing, "an event with a step_state must name its step")
	}
	return found
}

func collect(found *wire.Problems) report {
	return func(member, rule, text string) {
		*found = append(*found, wire.Problem{Pointer: wire.At("", member), Rule: rule, Text: text})
	}
}

func appendUnsafe(found wire.Problems, member, id string) wire.Problems {
	if wire.SafeID(id) {
		return found
	}
	return append(found, wire.Problem{Pointer: wire.At("", member), Rule: wire.RuleID, Text: wire.UnsafeText(id)})
}
