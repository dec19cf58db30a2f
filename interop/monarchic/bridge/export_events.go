// Events: the event log and the decision ledger (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (x *Export) events(strictly bool) ([]Object, error) {
	if strictly {
		return x.eventRecords(), nil
	}
	type dated struct {
		at string
		Object
	}
	var all []dated
	for _, line := range x.facts.events {
		row := line.Row
		at := row.String("timestamp")
		all = append(all, dated{at, object("event", &portable.Event{
			Version:      portable.Version,
			EventType:    cmp.Or(row.String("event_type"), "unknown"),
			Timestamp:    x.timestamp(at),
			TaskID:       x.taskOf(row),
			Status:       statusOf(row),
			Message:      said(row.Object("payload")),
			FailureClass: failureClass(row, x.facts.state),
			Extensions:   ours(row),
		})})
	}
	for _, row := range x.facts.decisions {
		at := stampOf(row)
		all = append(all, dated{at, object("event", &portable.Event{
			Version:   portable.Version,
			EventType: "decision_recorded",
			Timestamp: x.timestamp(at),
			TaskID:    cmp.Or(row.String("turn_id"), x.Run),
			Status:    cmp.Or(row.String("status"), row.String("decision"), row.String("type"), "recorded"),
			Message: cmp.Or(row.String("statement"), row.String("reason"),
				strings.Join(row.Strings("reasons"), "; ")),
			Extensions: ours(row),
		})})
	}
	slices.SortStableFunc(all, func(a, b dated) int { return byTime(a.at, b.at) })
	out := make([]Object, len(all))
	for i, d := range all {
		out[i] = d.Object
	}
	return out, nil
}

// timestamp returns a stamp as it is stored, or the Unix epoch when it cannot be read, as the
// protocol requires one.
func (x *Export) timestamp(at string) string {
	t, err := wire.ParseTime(at)
	if err != nil {
		x.warn("%q is not a time; it counts as 1970", text.ClipRunes(at, 40))
		return "1970-01-01T00:00:00.000Z"
	}
	if len(at) < len("2006-01-02T15:04:05Z") || !strings.Contains(at, "T") ||
		!strings.HasSuffix(at, "Z") && !strings.ContainsAny(at[19:], "+-") {
		return wire.FormatTime(t) // a stamp of another form, such as a date alone
	}
	return at
}

func (x *Export) taskOf(row *ojson.Object) string {
	return cmp.Or(row.Object("turn").String("turn_id"), x.Run)
}

func statusOf(row *ojson.Object) string {
	return cmp.Or(string(runState(wire.Status(row.String("status")))), "unknown")
}

func (x *Export) eventRecords() []Object {
	var out []Object
	for i, line := range x.facts.events {
		row := line.Row
		r := &strict.RunEventRecord{
			ContractVersion: portable.Version,
			EventID:         cmp.Or(row.String("event_id"), "event-"+itoa(i+1)),
			RunID:           x.Run,
			PlanID:          planID(x.Run),
			Sequence:        uint64(i + 1),
			Stream:          streamOf(row.String("event_type")),
			RecordedAt:      x.ms(row.String("timestamp")),
			EventType:       cmp.Or(row.String("event_type"), "unknown"),
			Status:          statusOf(row),
			ArtifactIDs:     []string{},
		}
		if id := row.Object("turn").String("turn_id"); id != "" {
			r.StepID, r.TaskID = &id, &id
			if r.EventType == run.EventTurnAccepted {
				r.ArtifactIDs = x.artifactIDs(id)
			}
		}
		if text := said(row.Object("payload")); text != "" {
			r.Message = &text
		}
		out = append(out, object("client_boundary/run_event_record", r))
	}
	return out
}

// streamOf returns the part of a run that an event belongs to; the first rule that fits counts.
func streamOf(kind string) strict.RunEventStream {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(kind, p) })
	}
	begins := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(kind, p) })
	}
	switch {
	case has("reissued", "retry", "reconcile"), begins("auto_retried_"), kind == "session_continuation",
		kind == run.EventLease:
		return strict.StreamRecovery
	case begins("gate_", "escalation_", "human_escalation_", "conflict_"), kind == run.EventTurnConflicted:
		return strict.StreamReview
	case kind == run.EventAcceptanceFailed:
		return strict.StreamVerification
	case begins("turn_"), kind == "dispatch_progress":
		return strict.StreamExecution
	case begins("run_", "phase_"):
		return strict.StreamLifecycle
	}
	return strict.StreamCustom
}

// eventDigest covers the lines of a turn, or of the run when turn is "".
func (x *Export) eventDigest(turn string) string {
	rows := x.facts.events
	if turn != "" {
		rows = x.facts.byTurn[turn]
	}
	lines := make([]string, len(rows))
	for i, l := range rows {
		lines[i] = string(ojson.Compact(l.Row))
	}
	return monarchic.DigestBytes([]byte(strings.Join(lines, "\n")))
}

// ended reports whether the run is over for good.
func (x *Export) ended() bool {
	return x.facts.state.Status.Ended()
}

// lastEventAt returns when the run last moved.
func (x *Export) lastEventAt() string {
	if n := len(x.facts.events); n > 0 {
		return x.facts.events[n-1].Row.String("timestamp")
	}
	return wire.OrEmpty(x.facts.state.CreatedAt)
}

// exportedAt returns the time of the export in milliseconds.
func (x *Export) exportedAt() uint64 {
	if !x.opt.At.IsZero() {
		return uint64(max(x.opt.At.UnixMilli(), 0))
	}
	return x.ms(x.lastEventAt())
}
