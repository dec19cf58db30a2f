// The closed vocabularies: run events, session timeline, statuses (docs/alx.md, WG-03 and WG-04).

package alx

import "slices"

// RunEventType names what happened in a run.
type RunEventType string

// The run events. run.completed always carries ok true (WG-10), run.failed
// always ok false (WG-09).
const (
	RunStarted     RunEventType = "run.started"
	RunPaused      RunEventType = "run.paused"
	RunResumed     RunEventType = "run.resumed"
	RunBlocked     RunEventType = "run.blocked"
	RunCompleted   RunEventType = "run.completed"
	RunFailed      RunEventType = "run.failed"
	TurnDispatched RunEventType = "turn.dispatched"
	TurnAccepted   RunEventType = "turn.accepted"
	TurnRejected   RunEventType = "turn.rejected"
	GatePending    RunEventType = "gate.pending"
	GateApproved   RunEventType = "gate.approved"
	GateFailed     RunEventType = "gate.failed"
	PhaseEntered   RunEventType = "phase.entered"
)

// RunEventTypes returns the whole vocabulary.
func RunEventTypes() []RunEventType {
	return []RunEventType{
		RunStarted, RunPaused, RunResumed, RunBlocked, RunCompleted, RunFailed,
		TurnDispatched, TurnAccepted, TurnRejected,
		GatePending, GateApproved, GateFailed, PhaseEntered,
	}
}

// Known reports whether t is in the vocabulary.
func (t RunEventType) Known() bool { return slices.Contains(RunEventTypes(), t) }

// Ends reports whether t is the last event of a run.
func (t RunEventType) Ends() bool { return t == RunCompleted || t == RunFailed }

// RequiredOK returns the value of ok that t requires; ok is free for other types.
func (t RunEventType) RequiredOK() (value, required bool) { return t == RunCompleted, t.Ends() }

// TimelineEventType names a step in the life of a session.
type TimelineEventType string

// The session timeline events.
const (
	SessionCreated   TimelineEventType = "session.created"
	SessionStep      TimelineEventType = "session.step"
	SessionWaiting   TimelineEventType = "session.waiting"
	SessionResumed   TimelineEventType = "session.resumed"
	SessionCompleted TimelineEventType = "session.completed"
	SessionFailed    TimelineEventType = "session.failed"
)

// TimelineEventTypes returns the whole vocabulary.
func TimelineEventTypes() []TimelineEventType {
	return []TimelineEventType{SessionCreated, SessionStep, SessionWaiting, SessionResumed, SessionCompleted,
		SessionFailed}
}

// Known reports whether t is in the vocabulary.
func (t TimelineEventType) Known() bool { return slices.Contains(TimelineEventTypes(), t) }

// SessionStatus is the status of a session, and of the execution it shows.
type SessionStatus string

// The statuses. Paused waits for a person's approval, blocked for a person to
// find a way out.
const (
	StatusActive    SessionStatus = "active"
	StatusPaused    SessionStatus = "paused"
	StatusBlocked   SessionStatus = "blocked"
	StatusCompleted SessionStatus = "completed"
	StatusFailed    SessionStatus = "failed"
)

// SessionStatuses returns the whole vocabulary.
func SessionStatuses() []SessionStatus {
	return []SessionStatus{StatusActive, StatusPaused, StatusBlocked, StatusCompleted, StatusFailed}
}

// Known reports whether s is in the vocabulary.
func (s SessionStatus) Known() bool { return slices.Contains(SessionStatuses(), s) }

// Ended reports whether nothing more will happen.
func (s SessionStatus) Ended() bool { return s == StatusCompleted || s == StatusFailed }
