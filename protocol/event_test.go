// Tests of the event vocabulary, envelope and ordering.

package protocol

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"pgregory.net/rapid"
)

func TestEventTypes(t *testing.T) {
	types := run.EventTypes()
	if len(types) != 42 {
		t.Errorf("%d types", len(types))
	}
	for i, typ := range types {
		if slices.Index(types, typ) != i {
			t.Errorf("%s twice", typ)
		}
	}
}

func TestNewEvent(t *testing.T) {
	for _, typ := range run.EventTypes() {
		row, err := run.NewEvent(run.EventSpec{
			ID:     "evt_1",
			Type:   typ,
			Time:   "2026-01-02T03:04:05.678Z",
			Run:    "run_1",
			Phase:  "p",
			Status: wire.StatusActive,
			Turn:   ojson.NewObject("turn_id", "t1", "role_id", "dev"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(row.Keys(),
			" "); got != "event_id event_type timestamp run_id phase status turn intent_id payload" {
			t.Errorf("%s: %s", typ, got)
		}
		if errs := run.ValidateEvent(row); errs != nil {
			t.Errorf("%s: %v", typ, errs)
		}
		classified := row.Object("payload").Has("recovery_classification")
		if want := strings.Contains(typ, "retr") && typ != "coordinator_retry" &&
			typ != "coordinator_retry_projection_warning" ||
			typ == "budget_exceeded_warn" || strings.HasPrefix(typ, "retained_claude"); classified != want {
			t.Errorf("%s: recovery_classification %v", typ, classified)
		}
	}
	row, err := run.NewEvent(run.EventSpec{ID: "e", Type: "run_started", Time: "2026-01-02T03:04:05.678Z"})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(ojson.Compact(
		row)); got != `{"event_id":"e","event_type":"run_started","timestamp":"2026-01-02T03:04:05.678Z","run_id":null,"phase":null,"status":null,"turn":null,"intent_id":null,"payload":{}}` {
		t.Error(got)
	}
	if _, err := run.NewEvent(run.EventSpec{ID: "e", Type: "run_stalled"}); err == nil {
		t.Error("an unregistered type must not become an event")
	}
	payload := ojson.NewObject("spent_usd", 1)
	if _, err := run.NewEvent(run.EventSpec{Type: "budget_exceeded_warn", Payload: payload}); err != nil ||
		payload.Has("recovery_classification") {
		t.Error("the caller's payload was changed")
	}
}

func TestValidateEvent(t *testing.T) {
	list := strings.Join(run.EventTypes(), ", ")
	for doc, want := range map[string]string{
		`1`:  "Event must be an object",
		`[]`: "Event must be an object",
		`{}`: "event_id must be a non-empty string|event_type must be one of: " + list +
			"|timestamp must be a valid ISO-8601 string",
		`{"event_id": "e", "event_type": "run_started", "timestamp": "2026-04-15T00:00:00Z"}`:                               "",
		`{"event_id": " ", "event_type": "run_started", "timestamp": "2026-04-15"}`:                                         "event_id must be a non-empty string",
		`{"event_id": "e", "event_type": "run_started", "timestamp": "yesterday"}`:                                          "timestamp must be a valid ISO-8601 string",
		`{"event_id": "e", "event_type": "turn_accepted", "timestamp": "2026-04-15T00:00:00.5+02:00"}`:                      "turn_accepted requires a non-empty turn.turn_id",
		`{"event_id": "e", "event_type": "turn_rejected", "timestamp": "2026-04-15T00:00:00Z", "turn": {"turn_id": ""}}`:    "turn_rejected requires a non-empty turn.turn_id",
		`{"event_id": "e", "event_type": "turn_dispatched", "timestamp": "2026-04-15T00:00:00Z", "turn": {"turn_id": "t"}}`: "",
		`{"event_id": "e", "event_type": "turn_dispatched", "timestamp": "2026-04-15T00:00:00Z", "turn": "t"}`:              "turn_dispatched requires a non-empty turn.turn_id",
	} {
		v, err := ojson.Decode([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(run.ValidateEvent(v), "|"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", doc, got, want)
		}
	}
}

func TestValidateEventOrdering(t *testing.T) {
	ev := func(typ, at, turn string) string {
		s := `{"event_type": "` + typ + `", "timestamp": "2026-04-15T00:00:0` + at + `Z"`
		if turn != "" {
			s += `, "turn": {"turn_id": "` + turn + `"}`
		}
		return s + "}"
	}
	for _, tc := range []struct {
		events []string
		code   string
		errs   string
	}{
		{nil, run.CodeInvalidEvents, "Events must be a non-empty array"},
		{[]string{ev("run_started", "0", ""), ev("turn_dispatched", "1", "t"), ev("turn_accepted", "1", "t"),
			ev("run_completed", "3", "")}, "", ""},
		{[]string{ev("turn_dispatched", "0", "t"), ev("run_started", "1", "")}, run.CodeOrderingViolation,
			"First event must be run_started"},
		{[]string{ev("run_started", "0", ""), ev("turn_accepted", "1", "t")}, run.CodeOrderingViolation,
			"turn_accepted for t without preceding turn_dispatched"},
		{[]string{ev("run_started", "0", ""), ev("turn_accepted", "1", "t"), ev("turn_dispatched", "1", "t")},
			run.CodeOrderingViolation, "turn_accepted for t without preceding turn_dispatched"},
		{[]string{ev("run_started", "0", ""), ev("run_completed", "1", ""), ev("gate_failed", "2", "")},
			run.CodeOrderingViolation, "run_completed must be the last event"},
		{[]string{ev("run_started", "5", ""), ev("gate_failed", "2", "")}, run.CodeOrderingViolation,
			"Event 1 timestamp is before event 0"},
		{[]string{"3", "null", `"x"`}, run.CodeOrderingViolation, "First event must be run_started"},
	} {
		v, err := ojson.Decode([]byte("[" + strings.Join(tc.events, ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		code, errs := run.ValidateEventOrdering(v)
		if code != tc.code || strings.Join(errs, "|") != tc.errs {
			t.Errorf("%v: %s %v", tc.events, code, errs)
		}
	}
	if code, _ := run.ValidateEventOrdering("x"); code != run.CodeInvalidEvents {
		t.Error(code)
	}
}

func TestValidateEventsNeverPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genJSON(4).Draw(t, "value")
		run.ValidateEvent(v)
		run.ValidateEventOrdering(v)
		run.ValidateEventOrdering([]any{v, v})
	})
}

func TestTimes(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678999999, time.FixedZone("x", 3600))
	if got := wire.FormatTime(at); got != "2026-01-02T02:04:05.678Z" {
		t.Error(got)
	}
	for in, want := range map[string]string{
		"2026-01-02T03:04:05.678Z":       "2026-01-02T03:04:05.678Z",
		"2026-01-02T03:04:05+01:00":      "2026-01-02T02:04:05.000Z",
		"2026-01-02T03:04:05.123456789Z": "2026-01-02T03:04:05.123Z",
		"2026-01-02T03:04Z":              "2026-01-02T03:04:00.000Z",
		"2026-01-02T03:04":               "2026-01-02T03:04:00.000Z",
		"2026-01-02":                     "2026-01-02T00:00:00.000Z",
		"2026-01":                        "2026-01-01T00:00:00.000Z",
		"2026":                           "2026-01-01T00:00:00.000Z",
		"":                               "",
		"soon":                           "",
		"2026-13-01":                     "",
		"2026-01-02 03:04:05":            "",
		"2026-02-30":                     "",
		strings.Repeat("2", 100):         "",
	} {
		got, err := wire.ParseTime(in)
		if (err != nil) != (want == "") || err == nil && wire.FormatTime(got) != want {
			t.Errorf("%q: %v %v", in, got, err)
		}
	}
	if ms, ok := wire.DurationMS("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:07.000Z"); !ok || ms != 1322 {
		t.Error(ms, ok)
	}
	if _, ok := wire.DurationMS("2026-01-02T03:04:05.678Z", "2026-01-01"); ok {
		t.Error("time ran backwards")
	}
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "ms"))
		back, err := wire.ParseTime(wire.FormatTime(at))
		if err != nil || !back.Equal(at) {
			t.Fatalf("%v %v", back, err)
		}
		_, _ = wire.ParseTime(rapid.String().Draw(t, "text"))
	})
}
