// Emission: one event to every webhook that subscribes to it (docs/notifications.md#webhooks).

package notify

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// envelopeVersion is the schema_version of the sent document.
const envelopeVersion = "0.1"

// Sender sends events to webhooks. The zero values of its options are what commands use.
type Sender struct {
	Config  Config
	Project Project

	Lookup   func(name string) (string, bool)                 // environment for ${NAME}; nothing is set when nil
	Now      func() time.Time                                 // time.Now when nil
	ID       func() string                                    // a new event id; random when nil
	Attempts int                                              // attempts at one delivery; DefaultAttempts when 0
	Wait     func(ctx context.Context, d time.Duration) error // between attempts; a timer when nil

	worn map[string]bool // webhooks that have used up all attempts; they get one from then on
}

// Emission is the outcome of one event.
type Emission struct {
	EventID string // "" when there is no webhook at all
	Results []Result
}

// Result is the outcome of the event at one webhook. Row is the line for the notification audit:
// {event_id, event_type, notification_name, transport, delivered, status_code, timed_out,
// duration_ms, message, emitted_at, stderr_excerpt?, attempts}. duration_ms covers all attempts and
// the waiting between them; attempts is a member of ours.
type Result struct {
	Webhook   string
	Delivered bool
	Row       *ojson.Object
}

// Emit sends the event to the webhooks that subscribe to it, one after another in the order of the
// configuration, all with the same event id. Every one of them gets exactly one Result, even when
// ctx ends before it was its turn. The error is about the event itself: an unknown type.
func (s *Sender) Emit(ctx context.Context, e Event, run Run) (Emission, error) {
	if len(s.Config.Webhooks) == 0 {
		return Emission{}, nil
	}
	if !slices.Contains(config.NotificationEvents(), e.Type) {
		// The text is part of the wire format: docs/notifications.md#webhooks.
		return Emission{}, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "event",
			Message: fmt.Sprintf("Unknown notification event %q", e.Type),
		}
	}
	at := wire.FormatTime(s.now())
	out := Emission{EventID: s.newID()}
	var body []byte
	for i := range s.Config.Webhooks {
		w := &s.Config.Webhooks[i]
		if !slices.Contains(w.Events, e.Type) || e.Only != nil && !slices.Contains(e.Only, w.Name) {
			continue
		}
		if body == nil {
			body = ojson.Compact(redacted(s.envelope(e, run, out.EventID, at)))
		}
		d := s.deliver(ctx, w, body)
		s.wear(w, &d)
		out.Results = append(out.Results, Result{
			Webhook:   w.Name,
			Delivered: d.delivered,
			Row:       d.row(out.EventID, e.Type, w.Name, at),
		})
	}
	return out, nil
}

// envelope returns the document to send.
func (s *Sender) envelope(e Event, run Run, id, at string) *ojson.Object {
	payload := e.Payload
	if payload == nil {
		payload = ojson.NewObject()
	}
	var turn any
	if t := e.Turn; t != nil {
		turn = ojson.NewObject("turn_id", ojson.OrNull(t.TurnID), "role_id", ojson.OrNull(t.AssignedRole),
			"attempt", positive(t.Attempt), "assigned_sequence", positive(t.AssignedSequence))
	}
	return ojson.NewObject("schema_version", envelopeVersion, "event_id", id, "event_type", e.Type, "emitted_at", at,
		"project", ojson.NewObject("id", cmp.Or(s.Project.ID, "unknown"), "name", cmp.Or(s.Project.Name, "Unknown"),
			"root", s.Project.Root),
		"run", ojson.NewObject("run_id", ojson.OrNull(run.ID), "status", ojson.OrNull(run.Status),
			"phase", ojson.OrNull(run.Phase)),
		"turn", turn, "payload", payload)
}

// redacted removes secrets from the strings of a document: it leaves the machine, and actors wrote
// parts of it.
func redacted(v ojson.Value) ojson.Value {
	switch v := v.(type) {
	case string:
		return secrets.Redact(v)
	case []ojson.Value:
		out := make([]ojson.Value, len(v))
		for i := range v {
			out[i] = redacted(v[i])
		}
		return out
	case *ojson.Object:
		if v == nil {
			return v
		}
		out := ojson.NewObject()
		for key, value := range v.All() {
			out.Set(key, redacted(value))
		}
		return out
	}
	return v
}

func (s *Sender) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

func (s *Sender) newID() string {
	if s.ID != nil {
		return s.ID()
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it crashes the process instead
	return "notif_" + hex.EncodeToString(b[:])
}

func positive(n int) any {
	if n <= 0 {
		return nil
	}
	return n
}
