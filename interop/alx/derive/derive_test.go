package derive_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/derive"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func event(typ, id, status string, more ...any) *ojson.Object {
	o := ojson.NewObject("event_id", id, "event_type", typ, "timestamp", "2026-01-02T03:04:05.000Z", "run_id", "run_1",
		"phase", "build", "status", status)
	o.Set("payload", ojson.NewObject(more...))
	return o
}

// Each governed event becomes at most one; ids and numbers follow its place.
func TestEventTypes(t *testing.T) {
	rows := []*ojson.Object{
		event("run_started", "evt_1",
			"active"), event("turn_dispatched", "evt_2", "active"), event("turn_checkpointed", "evt_3", "active"),
		event("turn_rejected", "evt_4", "active", "reason",
			"no"), event("turn_accepted", "evt_5", "paused"), event("human_escalation_raised", "evt_6", "paused"),
		event("gate_pending", "evt_7", "paused"), event("gate_approved", "evt_8",
			"active"), event("human_escalation_resolved", "evt_9", "active"),
		event("phase_entered", "evt_10", "active", "to",
			"ship"), event("gate_failed", "evt_11", "active"), event("human_escalation_raised", "evt_12", "blocked"),
		event("run_blocked", "evt_13", "blocked", "blocked_on", "x"), event("human_escalation_resolved", "evt_14",
			"active"), event("escalation_resolved", "evt_15", "active"),
		event("not_known", "evt_16", "active"), event("run_completed", "evt_17", "completed"),
	}
	log := derive.NewLog(derive.Origin{SessionID: "s", CorrelationID: "c"}, "run_1")
	log.Add(rows...)
	var got []string
	for _, e := range log.Events {
		got = append(got, string(e.Type)+" "+e.ID)
	}
	want := []string{"run.started evt_1", "turn.dispatched evt_2", "turn.rejected evt_4", "turn.accepted evt_5",
		"run.paused evt_6", "gate.pending evt_7", "gate.approved evt_8", "phase.entered evt_10", "gate.failed evt_11",
		"run.blocked evt_13", "run.resumed evt_14", "run.completed evt_17"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if last := log.Events[len(log.Events)-1]; last.OK == nil || !*last.OK || !log.Ended() {
		t.Errorf("%+v", last)
	}
	tl := derive.Timeline(&derive.Origin{Intent: "x", CreatedAt: "2026-01-02T03:04:05.000Z"},
		&derive.Facts{Run: "run_1"}, log.Events)
	for i, e := range tl {
		if !e.Type.Known() || e.Sequence != int64(i+1) || e.Summary == "" {
			t.Errorf("%+v", e)
		}
	}
	if tl[0].Type != alx.SessionCreated || tl[len(tl)-1].Type != alx.SessionCompleted {
		t.Errorf("%+v", tl)
	}
}

// An event that says no names the command that tells why, and so does the answer of a blocked run.
func TestExplainOfRefusals(t *testing.T) {
	turn := func(row *ojson.Object) *ojson.Object {
		row.Set("turn", ojson.NewObject("turn_id", "turn_1", "role_id", "dev"))
		return row
	}
	log := derive.NewLog(derive.Origin{SessionID: "s", CorrelationID: "c"}, "run_1")
	log.Add(event("run_started", "evt_1", "active"), turn(event("turn_dispatched", "evt_2", "active")),
		turn(event("turn_rejected", "evt_3", "active", "reason", "no")),
		event("gate_failed", "evt_4", "active", "gate_id", "the gate"),
		turn(event("run_blocked", "evt_5", "blocked", "blocked_on", "x")), event("run_blocked", "evt_6", "blocked"))
	want := []string{"", "", "git agentxchain explain turn_1 --run run_1",
		"git agentxchain explain 'the gate' --run run_1",
		"git agentxchain explain turn_1 --run run_1", ""}
	for i, e := range log.Events {
		if got := e.Data.String("explain"); got != want[i] {
			t.Errorf("%s: %q, want %q", e.Type, got, want[i])
		}
	}
	last := "turn_1"
	r, err := derive.Solve(&derive.Origin{SessionID: "s", CorrelationID: "c"}, &derive.Facts{
		Run:   "run_1",
		State: &run.State{Status: wire.StatusBlocked, LastCompletedTurnID: &last},
	}, derive.Live{Ahead: -1, Dir: "w/s"}, log.Events, time.Now())
	if err != nil || r.Error.Details.String("explain") != "git -C w/s agentxchain explain turn_1" {
		t.Errorf("%v %+v", err, r)
	}
}

// In whatever way the rows arrive, the events are the same, numbered without a gap, each with an id
// of its own, and strict decoders accept every one.
func TestEventsAreStable(t *testing.T) {
	types := append(run.EventTypes(), "unheard_of")
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.Custom(func(t *rapid.T) *ojson.Object {
			return event(rapid.SampledFrom(types).Draw(t, "type"),
				rapid.SampledFrom([]string{"", "evt_1", "evt_2", "evt_3", "x y", "\n"}).Draw(t, "id"),
				rapid.SampledFrom([]string{"active", "paused", "blocked", "completed", ""}).Draw(t, "status"))
		})).Draw(t, "rows")
		whole := derive.NewLog(derive.Origin{SessionID: "s", CorrelationID: "c"}, "run_1")
		whole.Add(rows...)
		parts := derive.NewLog(derive.Origin{SessionID: "s", CorrelationID: "c"}, "run_1")
		for len(rows) > 0 {
			n := rapid.IntRange(1, len(rows)).Draw(t, "n")
			parts.Add(rows[:n]...)
			rows = rows[n:]
		}
		if a, b := fmt.Sprint(encoded(whole.Events)), fmt.Sprint(encoded(parts.Events)); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
		seen := make(map[string]bool)
		for i, e := range whole.Events {
			if _, err := (alx.Decoder{Strict: true}).RunEvent(alx.Encode(&e)); err != nil ||
				e.Sequence != int64(i+1) || seen[e.ID] {
				t.Fatalf("%v %+v", err, e)
			}
			seen[e.ID] = true
			if n, ok := derive.After(whole.Events, e.ID); !ok || n != i+1 {
				t.Fatalf("after %s: %d %v", e.ID, n, ok)
			}
		}
	})
}

func encoded(events []alx.RunEvent) []string {
	var out []string
	for i := range events {
		out = append(out, string(alx.Encode(&events[i])))
	}
	return out
}

func turn(id, verification string, more ...any) *ojson.Object {
	o := ojson.NewObject("turn_id", id, "run_id", "run_1", "role", "dev", "runtime_id", "sh", "status", "completed",
		"summary", "did "+id, "normalized_verification", ojson.NewObject("status", verification),
		"cost", ojson.NewObject("usd", ojson.Number("0.1")))
	for i := 0; i+1 < len(more); i += 2 {
		o.Set(more[i].(string), more[i+1])
	}
	return o
}

func objection(id, severity, status string) []any {
	return []any{ojson.NewObject("id", id, "severity", severity, "status", status, "statement", "x")}
}

func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		rows []*ojson.Object
		want float64
	}{
		{nil, 0},
		{[]*ojson.Object{turn("a", "pass")}, 1},
		{[]*ojson.Object{turn("a", "pass"), turn("b", "attested_pass")}, 0.5},
		{[]*ojson.Object{turn("a", "pass", "objections", objection("OBJ-1", "high", "raised"))}, 0.5},
		{[]*ojson.Object{turn("a", "pass", "objections", objection("OBJ-1", "blocking", "")), turn("b", "pass",
			"objections", objection("OBJ-1", "blocking", "resolved"))}, 1},
		{[]*ojson.Object{turn("a", "pass", "objections", objection("OBJ-1", "low", "raised"))}, 1},
		{[]*ojson.Object{turn("a", "pass"), turn("b", "pass", "status", "reissued")}, 1},
	} {
		if got := derive.Confidence(&derive.Facts{Run: "run_1", History: c.rows}); got != c.want {
			t.Errorf("%v: %v, want %v", encodedRows(c.rows), got, c.want)
		}
	}
}

func encodedRows(rows []*ojson.Object) (out []string) {
	for _, r := range rows {
		out = append(out, string(ojson.Compact(r)))
	}
	return out
}

// Nothing accepted, no artifact; else its identity follows from the accepted turns and not from
// later additions to their rows.
func TestBlock(t *testing.T) {
	o := &derive.Origin{Intent: "x"}
	if b, err := derive.Block(o, &derive.Facts{Run: "run_1"}); b != nil || err != nil {
		t.Errorf("%+v %v", b, err)
	}
	rows := []*ojson.Object{
		turn("a", "pass", "observed_artifact", ojson.NewObject("file_markers",
			ojson.NewObject("z.txt", "sha256:11", "gone.txt", "sha256:22", "b.txt", "sha256:33"))),
		turn("b", "fail", "observed_artifact", ojson.NewObject("file_markers",
			ojson.NewObject("z.txt", "sha256:44", "gone.txt", "deleted"))),
	}
	f := &derive.Facts{Run: "run_1", History: rows}
	b, err := derive.Block(o, f)
	if err != nil || len(b.Artifacts) != 2 || b.Artifacts[0].Path != "b.txt" || b.Artifacts[1].SHA256 != "44" ||
		b.Verification.Status != "partial" || len(b.Sources) != 2 {
		t.Fatalf("%+v %v", b, err)
	}
	if sum, err := kb.Hash(ojson.Marshal(b)); err != nil || sum != b.KBHash {
		t.Errorf("%s %v", sum, err)
	}
	rows[0] = rows[0].Clone()
	rows[0].Set("checkpoint_sha", "abc")
	rows[0].Set("checkpointed_at", "2026-01-02T03:04:05.000Z")
	again, err := derive.Block(o, f)
	if err != nil || again.KBHash != b.KBHash {
		t.Errorf("a checkpoint changed the identity: %v", err)
	}
	rows[1] = rows[1].Clone()
	rows[1].Set("summary", "something else")
	if again, _ = derive.Block(o, f); again.KBHash == b.KBHash {
		t.Error("another turn has the same identity")
	}
}

// A run that could not be begun has failed for good: ok is false everywhere.
func TestFailed(t *testing.T) {
	o := &derive.Origin{
		SessionID:     "s",
		CorrelationID: "c",
		Intent:        "x",
		CreatedAt:     "2026-01-02T03:04:05.000Z",
		Failed:        alx.Errorf(alx.CodeRuntimeUntrusted, "not trusted"),
		FailedAt:      "2026-01-02T03:04:06.000Z",
	}
	f := &derive.Facts{Run: "run_1"}
	log := derive.NewLog(*o, "run_1")
	log.Fail(o, nil)
	log.Fail(o, nil)
	if len(log.Events) != 1 || log.Events[0].Type != alx.RunFailed || *log.Events[0].OK {
		t.Fatalf("%+v", log.Events)
	}
	r, err := derive.Solve(o, f, derive.Live{Ahead: -1}, log.Events, time.Now())
	if err != nil || r.OK || r.Success || r.Error == nil || r.Execution.Status != alx.StatusFailed ||
		r.Artifact != nil || r.Confidence != 0 {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := (alx.Decoder{Strict: true}).SolveResponse(alx.Encode(r)); err != nil {
		t.Error(err)
	}
	if s := derive.Session(o, f, derive.Live{Ahead: -1}, log.Events); s.Status != alx.StatusFailed ||
		s.Summary != "not carried out: not trusted" {
		t.Errorf("%+v", s)
	}
}

// A record that says its run has failed has no event for it: the events still end, once, and
// followers are released.
func TestFailedByItsRecord(t *testing.T) {
	o := &derive.Origin{SessionID: "s", CorrelationID: "c"}
	log := derive.NewLog(*o, "run_1")
	log.Add(event("run_started", "evt_1", "active"))
	log.Fail(o, &run.State{Status: wire.StatusBlocked})
	if log.Ended() {
		t.Fatalf("%+v", log.Events)
	}
	failed := &run.State{Status: wire.StatusFailed}
	log.Fail(o, failed)
	log.Fail(o, failed)
	if n := len(log.Events); n != 2 || log.Events[1].Type != alx.RunFailed || *log.Events[1].OK ||
		log.Events[1].At != log.Events[0].At {
		t.Fatalf("%+v", log.Events)
	}
	if r, err := derive.Solve(o, &derive.Facts{Run: "run_1", State: failed}, derive.Live{Ahead: -1}, log.Events,
		time.Now()); err != nil || r.OK || r.Error.Code != alx.CodeRunFailed {
		t.Errorf("%+v %v", r, err)
	}
}

// The next step of a session names the place to do it in.
func TestNextStep(t *testing.T) {
	on := "human_approval:gate"
	paused := &run.State{
		Status:               wire.StatusPaused,
		BlockedOn:            &on,
		PendingRunCompletion: &run.PendingCompletion{Gate: "gate"},
	}
	cfg := &config.Config{}
	for _, c := range []struct {
		what  string
		state *run.State
		live  derive.Live
		want  string
	}{
		{"queued", nil, derive.Live{Ahead: 3}, "# wait: 3 runs are carried out before this one"},
		{"next", nil, derive.Live{Ahead: 0}, "# wait: this run is carried out next"},
		{"driven", &run.State{Status: wire.StatusActive}, derive.Live{Ahead: -1, Driven: true}, ""},
		{"complete", &run.State{Status: wire.StatusCompleted}, derive.Live{Ahead: -1, Branch: "agentxchain/solve/s"},
			"git merge agentxchain/solve/s # takes over what was done"},
		{"stopped", &run.State{Status: wire.StatusActive}, derive.Live{
			Ahead:   -1,
			Dir:     "a b",
			Stopped: &alx.Error{Code: "run_blocked", Message: "No more.", Hint: "git agentxchain run"},
		}, "git -C 'a b' agentxchain run # No more."},
	} {
		if got := derive.NextStep(&derive.Origin{}, &derive.Facts{Run: "run_1", State: c.state, Config: cfg},
			c.live); got != c.want {
			t.Errorf("%s: %q", c.what, got)
		}
	}
	got := derive.NextStep(&derive.Origin{}, &derive.Facts{
		Run:    "run_1",
		State:  paused,
		Config: cfg,
	}, derive.Live{Ahead: -1, Dir: "w/s"})
	if len(got) < 30 || got[:30] != "git -C w/s agentxchain approve"[:30] {
		t.Errorf("%q", got)
	}
}
