// Tests of decoding state.json.

package protocol

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"pgregory.net/rapid"
)

// activeStateDoc is a valid state of a run with one active turn.
const activeStateDoc = `{
  "schema_version": "1.1", "run_id": "run_00112233445566aa", "project_id": "demo", "status": "active", "phase": "planning",
  "vendor_note": {"b": 1, "a": [2.50]},
  "created_at": "2026-01-02T03:00:00.000Z", "phase_entered_at": "2026-01-02T03:00:00.000Z",
  "accepted_integration_ref": "git:0123456789abcdef0123456789abcdef01234567",
  "active_turns": {"turn_b": {"turn_id": "turn_b", "run_id": "run_00112233445566aa", "assigned_role": "dev", "status": "assigned", "attempt": 1,
    "assigned_at": "2026-01-02T03:04:05.678Z", "runtime_id": "man", "worker_pid": 42, "assigned_sequence": 3, "concurrent_with": [],
    "baseline": {"kind": "git_worktree", "head_ref": null, "clean": true, "captured_at": "2026-01-02T03:04:05.600Z", "dirty_snapshot": {"a b": "deleted"}, "x": null}}},
  "turn_sequence": 3, "last_completed_turn_id": "turn_a", "blocked_on": null, "blocked_reason": null, "escalation": null,
  "queued_phase_transition": null, "queued_run_completion": null, "last_gate_failure": null,
  "phase_gate_status": {"g1": "pending"}, "budget_reservations": {"turn_b": {"reserved_usd": 2}},
  "budget_status": {"spent_usd": 0.25, "remaining_usd": 4.75, "vendor": true} }`

func stateFrom(t testing.TB, doc string) *run.State {
	t.Helper()
	s, err := run.DecodeState([]byte(doc))
	if err != nil {
		t.Fatalf("DecodeState: %v", err)
	}
	return s
}

// stateWith returns activeStateDoc with members replaced or added.
func stateWith(t testing.TB, members string) *run.State {
	t.Helper()
	o, err := ojson.DecodeObject([]byte(activeStateDoc))
	if err != nil {
		t.Fatal(err)
	}
	m, err := ojson.DecodeObject([]byte(members))
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	for k, v := range m.All() {
		o.Set(k, v)
	}
	s, problems := run.DecodeStateObject(o)
	if len(problems) > 0 {
		t.Fatal(problems.Join())
	}
	return s
}

func TestDecodeStateKeepsEverything(t *testing.T) {
	s := stateFrom(t, activeStateDoc)
	before, _ := ojson.DecodeObject([]byte(activeStateDoc))
	after, err := ojson.DecodeObject(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if !ojson.Equal(before, after) {
		t.Errorf("lost something:\n%s", s.Encode())
	}
	if got, want := strings.Join(after.Keys(), " "), strings.Join(before.Keys(), " "); got != want {
		t.Errorf("member order:\n got %s\nwant %s", got, want)
	}
	if !bytes.Contains(s.Encode(), []byte("2.50")) {
		t.Error("the spelling of an unknown number changed")
	}
	if p := run.CheckState(s); len(p) > 0 {
		t.Error(p.Join())
	}
}

func TestDecodeStateRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		doc, code string
		fields    []string
	}{
		"empty":     {"", wire.CodeInvalidJSON, nil},
		"truncated": {activeStateDoc[:200], wire.CodeInvalidJSON, nil},
		"array":     {"[]", wire.CodeInvalidJSON, nil},
		"bad UTF-8": {"{\"a\": \"\xff\"}", wire.CodeInvalidJSON, nil},
		"duplicate": {`{"status": "idle", "status": "active"}`, wire.CodeInvalidJSON, nil},
		"deep":      {strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), wire.CodeInvalidJSON, nil},
		"wrong types": {`{"status": 1, "turn_sequence": 1.5, "active_turns": [], "blocked_reason": "x"}`,
			wire.CodeInvalidState, []string{"status", "turn_sequence", "active_turns", "blocked_reason"}},
		"null turn": {`{"active_turns": {"t": null}, "delegation_queue": [null], "repo_decisions": [null]}`,
			wire.CodeInvalidState, []string{"active_turns.t", "delegation_queue[0]", "repo_decisions[0]"}},
		"null name": {`{"phase_gate_status": {"run_id": null}}`, wire.CodeInvalidState,
			[]string{"phase_gate_status.run_id"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := run.DecodeState([]byte(tc.doc))
			if s != nil || err == nil || err.Code != tc.code {
				t.Fatalf("got %v, %v, want code %s", s, err, tc.code)
			}
			if err.Message == "" || strings.Contains(err.Message, "\n") || err.Hint == "" {
				t.Errorf("message %q hint %q", err.Message, err.Hint)
			}
			var fields []string
			for _, p := range err.Problems {
				fields = append(fields, p.Field)
			}
			if strings.Join(fields, ",") != strings.Join(tc.fields, ",") {
				t.Errorf("fields %v, want %v", fields, tc.fields)
			}
		})
	}
}

func TestDecodeStateToleratesNulls(t *testing.T) {
	s := stateWith(t,
		`{"active_turns": {"t": {"turn_id": "t", "run_id": null, "assigned_role": "dev", "status": "failed", "attempt": 2, "runtime_id": "m",
		"assigned_sequence": 1, "started_at": null, "failure_reason": null, "concurrent_with": null, "conflict_state": null}},
		"pending_phase_transition": {"from": "a", "to": "b", "gate": "g", "requested_by_turn": null},
		"blocked_reason": {"category": null, "recovery": null, "blocked_at": null, "turn_id": null}, "budget_status": null, "delegation_queue": null}`)
	if s.PendingPhaseTransition == nil || s.PendingPhaseTransition.Gate != "g" || s.BlockedReason == nil {
		t.Errorf("%+v", s)
	}
}

func TestDecodeStateProblemsAreBounded(t *testing.T) {
	doc := `{"repo_decisions": [` + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + `]}`
	_, err := run.DecodeState([]byte(doc))
	if err == nil || len(err.Problems) > run.MaxStateProblems || len(err.Message) > 1000 {
		t.Fatalf("%d problems", len(err.Problems))
	}
}

func TestDecodeStateTurnSequence(t *testing.T) {
	turn := `{"turn_id": "t", "assigned_role": "dev", "status": "running", "attempt": 1, "runtime_id": "m", "assigned_sequence": 4}`
	for doc, want := range map[string]int{
		`{"active_turns": {"t": ` + turn + `}}`:                     4,
		`{"active_turns": {"t": ` + turn + `}, "turn_sequence": 0}`: 0,
		`{"active_turns": {}}`:                                      0,
		`{"current_turn": ` + turn + `}`:                            1,
	} {
		if s := stateFrom(t, doc); s.TurnSequence != want {
			t.Errorf("%s: %d, want %d", doc, s.TurnSequence, want)
		}
	}
}

// genJSON draws any JSON value.
func genJSON(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 4
		if depth > 0 {
			kinds = 6
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return ojson.Int(rapid.IntRange(-3, 1<<40).Draw(t, "int"))
		case 3:
			return rapid.SampledFrom([]string{"", "x", "active", "human:y", "t1", "2026-01-01T00:00:00Z", "é\u2028",
				"pending"}).Draw(t, "str")
		case 4:
			return rapid.SliceOfN(genJSON(depth-1), 0, 3).Draw(t, "array")
		}
		o := ojson.NewObject()
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			o.Set(rapid.SampledFrom([]string{"turn_id", "status", "gate", "t1", "recovery", "x"}).Draw(t, "key"),
				genJSON(depth-1).Draw(t, "value"))
		}
		return o
	})
}

// stateKeys are the members a drawn state is built from.
var stateKeys = []string{"schema_version", "run_id", "project_id", "status", "phase", "created_at", "active_turns",
	"current_turn", "turn_sequence",
	"last_completed_turn_id", "blocked_on", "blocked_reason", "escalation", "pending_phase_transition",
	"pending_run_completion",
	"queued_phase_transition", "last_gate_failure", "phase_gate_status", "budget_reservations", "budget_status",
	"delegation_queue",
	"pending_delegation_review", "next_recommended_role", "charter_materialization_pending", "zzz"}

// genStateObject draws a document that resembles a state, with any damage.
func genStateObject(t *rapid.T) *ojson.Object {
	o, _ := ojson.DecodeObject([]byte(activeStateDoc))
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		key := rapid.SampledFrom(stateKeys).Draw(t, "member")
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			o.Delete(key)
		case 1:
			o.Set(key, genJSON(3).Draw(t, "value"))
		case 2:
			switch key {
			case "status":
				o.Set(key, rapid.SampledFrom(
					[]string{"idle", "active", "paused", "blocked", "completed", "failed"}).Draw(t, "status"))
			case "blocked_on":
				o.Set(key, rapid.SampledFrom(blockerSamples).Draw(t, "blocked_on"))
			case "pending_phase_transition":
				o.Set(key, ojson.NewObject("from", "planning", "to", "build", "gate", "g1"))
			case "pending_run_completion":
				o.Set(key, ojson.NewObject("gate", "g1"))
			case "blocked_reason":
				o.Set(key, ojson.NewObject("category",
					rapid.SampledFrom([]string{"", "needs_human", "hook_tamper", "odd"}).Draw(t, "category")))
			}
		}
	}
	return o
}

func TestDecodeRepairNeverPanics(t *testing.T) {
	cfg := twoPhaseConfig()
	rapid.Check(t, func(t *rapid.T) {
		o := genStateObject(t)
		s, _ := run.DecodeStateObject(o.Clone())
		for _, c := range []*config.Config{nil, cfg} {
			once, _ := run.RepairState(s, c)
			twice, notes := run.RepairState(once, c)
			if !bytes.Equal(once.Encode(), twice.Encode()) {
				t.Fatalf("repair is not idempotent: %v\n%s\n---\n%s", notes, once.Encode(), twice.Encode())
			}
			if len(notes) > 0 {
				t.Fatalf("a repaired state was repaired again: %v", notes)
			}
			run.CheckState(once)
			run.DeriveRecovery(once, c)
			NextActions(once, c, "hesc_1")
			if once.Status == wire.StatusActive && c != nil {
				_, _, _ = ResolveRole(c, once, "")
			}
			if c != nil {
				NextStep(once, c, "")
			}
			LegalTransition(s, once, "accept_turn")
			LegalTransition(nil, once, "scaffold")
		}
	})
}

func TestUnknownMembersSurviveRepair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := genStateObject(t)
		o.Set("x_vendor", genJSON(3).Draw(t, "unknown"))
		s, problems := run.DecodeStateObject(o.Clone())
		if len(problems) > 0 {
			return
		}
		r, _ := run.RepairState(s, nil)
		got, err := ojson.DecodeObject(r.Encode())
		if err != nil {
			t.Fatal(err)
		}
		want, _ := o.Get("x_vendor")
		if have, ok := got.Get("x_vendor"); !ok || !ojson.Equal(have, want) {
			t.Fatalf("x_vendor became %v, was %v", have, want)
		}
	})
}

func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(activeStateDoc))
	f.Add([]byte(`{"active_turns":{"t":null},"status":"blocked","blocked_on":"turn:stalled:t"}`))
	f.Add([]byte(`{"schema_version":"1.0","current_turn":{"turn_id":"t"},"status":"paused","blocked_on":"human:x"}`))
	f.Add([]byte(`{"status":"blocked","pending_run_completion":{},"budget_status":{"spent_usd":1e308}}`))
	cfg := twoPhaseConfig()
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := run.DecodeState(data)
		if err != nil {
			if err.Code != wire.CodeInvalidJSON && err.Code != wire.CodeInvalidState {
				t.Fatalf("code %s", err.Code)
			}
			return
		}
		r, _ := run.RepairState(s, cfg)
		run.CheckState(r)
		run.DeriveRecovery(r, cfg)
		NextStep(r, cfg, "")
		again, err := run.DecodeState(r.Encode())
		if err != nil {
			t.Fatalf("our own bytes do not decode: %v", err)
		}
		if !bytes.Equal(again.Encode(), r.Encode()) {
			t.Fatal("decode and encode are no fixed point")
		}
	})
}
