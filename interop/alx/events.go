// Run events: what a stream sends and a page lists (docs/alx.md).

package alx

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// RunEvent is one event of a run.
type RunEvent struct {
	Type          RunEventType  `json:"type" jsonschema:"what happened"`
	ID            string        `json:"id" jsonschema:"resumes a stream after this event; opaque"`
	Sequence      int64         `json:"sequence" jsonschema:"from 1 in the run, without gaps"`
	RunID         string        `json:"runId" jsonschema:"the run; the executionId of solve"`
	SessionID     string        `json:"sessionId,omitempty" jsonschema:"the session that shows the run"`
	OK            *bool         `json:"ok,omitempty" jsonschema:"true in run.completed, false in run.failed, absent elsewhere"`
	CorrelationID string        `json:"correlationId" jsonschema:"of the request that started the run"`
	At            string        `json:"at" jsonschema:"UTC, RFC 3339, milliseconds"`
	Data          *ojson.Object `json:"data" jsonschema:"particulars of the type"`
	Extra         ojson.Extra   `json:"-"`
}

// SetOK gives e the ok that its type requires (WG-09, WG-10) and returns e.
func (e *RunEvent) SetOK() *RunEvent {
	e.OK = nil
	if value, required := e.Type.RequiredOK(); required {
		e.OK = &value
	}
	return e
}

// RunEventPage is a page of a run's events, oldest first.
type RunEventPage struct {
	Envelope
	RunID      string      `json:"runId" jsonschema:"the run"`
	Events     []RunEvent  `json:"events" jsonschema:"oldest first"`
	NextCursor string      `json:"nextCursor,omitempty" jsonschema:"the id to ask for what comes after this page; absent when the run has ended and this is all"`
	Ended      bool        `json:"ended" jsonschema:"nothing will come after these events"`
	Error      *Error      `json:"error,omitempty" jsonschema:"why, when ok is false"`
	Aside      []RunEvent  `json:"-"` // events of types that this version does not know (tolerant decoding)
	Extra      ojson.Extra `json:"-"`
}
