// Sessions: one governed run as its initiator sees it (docs/serve.md#sessions).

package alx

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// Session is a session as an inspection shows it, and an item of the list.
type Session struct {
	SessionID   string        `json:"sessionId" jsonschema:"stable session identifier"`
	UserID      string        `json:"userId" jsonschema:"who asked; empty when the request does not say"`
	Intent      string        `json:"intent" jsonschema:"the intent as it was asked for"`
	Status      SessionStatus `json:"status" jsonschema:"where the session stands"`
	Progress    float64       `json:"progress" jsonschema:"0 to 1: completed phases by all phases"`
	NextStep    string        `json:"nextStep" jsonschema:"what to do next; empty when there is nothing"`
	Summary     string        `json:"summary" jsonschema:"the session in a sentence"`
	ExecutionID string        `json:"executionId,omitempty" jsonschema:"the run; absent while the session waits for its turn"`
	CreatedAt   string        `json:"createdAt,omitempty" jsonschema:"UTC, RFC 3339, milliseconds"`
	UpdatedAt   string        `json:"updatedAt,omitempty" jsonschema:"when something happened last"`
}

// SessionResponse is one session with its timeline.
type SessionResponse struct {
	Envelope
	Session
	Timeline []TimelineEvent `json:"timeline" jsonschema:"what happened, oldest first"`
	Error    *Error          `json:"error,omitempty" jsonschema:"why, when ok is false"`
	// Aside holds timeline events of types that this version does not know, which a tolerant
	// decoder removes from Timeline.
	Aside []TimelineEvent `json:"-"`
	Extra ojson.Extra     `json:"-"`
}

// SessionItem is a session in a list, without its timeline.
type SessionItem struct {
	Session
	Extra ojson.Extra `json:"-"`
}

// SessionList is a page of sessions, newest first.
type SessionList struct {
	Envelope
	Sessions   []SessionItem `json:"sessions" jsonschema:"newest first"`
	NextCursor string        `json:"nextCursor,omitempty" jsonschema:"asks for the next page; absent on the last"`
	Error      *Error        `json:"error,omitempty" jsonschema:"why, when ok is false"`
	Extra      ojson.Extra   `json:"-"`
}

// TimelineEvent is one step in the life of a session.
type TimelineEvent struct {
	Type     TimelineEventType `json:"type" jsonschema:"what happened"`
	ID       string            `json:"id" jsonschema:"stable, unique in the session"`
	Sequence int64             `json:"sequence" jsonschema:"from 1, without gaps"`
	At       string            `json:"at" jsonschema:"UTC, RFC 3339, milliseconds"`
	Summary  string            `json:"summary" jsonschema:"for people"`
	Data     *ojson.Object     `json:"data,omitempty" jsonschema:"particulars of the type"`
	Extra    ojson.Extra       `json:"-"`
}
