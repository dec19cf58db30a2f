// Tests of the intents of a run: which is handed out, hostile files, and decision ids of concurrent turns.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestNextIntent(t *testing.T) {
	intent := func(members ...any) *ojson.Object {
		doc := ojson.NewObject("intent_id", "intent_1", "status", "approved", "priority", "p2", "created_at",
			"2026-01-02T00:00:00.000Z")
		for k, v := range ojson.NewObject(members...).All() {
			doc.Set(k, v)
		}
		return intents.Entry(doc, "", "")
	}
	for _, c := range []struct {
		name  string
		first []any
		then  []any
		want  string
	}{
		{"urgent goes first", []any{}, []any{"intent_id", "intent_2", "priority", "p0"}, "intent_2"},
		{"an unknown priority goes last", []any{"priority", "whenever"},
			[]any{"intent_id", "intent_2", "priority", "p3"}, "intent_2"},
		{"the older of two", []any{}, []any{"intent_id", "intent_2", "created_at", "2026-01-01T00:00:00.000Z"},
			"intent_2"},
		{"the same age", []any{"intent_id", "intent_3"}, []any{"intent_id", "intent_2"}, "intent_2"},
		{"worked on", []any{"status", "executing"}, []any{"intent_id", "intent_2", "priority", "p3"}, "intent_2"},
		{"another phase", []any{"priority", "p0", "phase_scope", "ship"}, []any{"intent_id", "intent_2"}, "intent_2"},
		{"this phase", []any{"phase_scope", "planning"}, []any{"intent_id", "intent_2", "priority", "p3"}, "intent_1"},
		{"nothing waits", []any{"status", "completed"}, []any{"intent_id", "intent_2", "status", "suppressed"}, ""},
	} {
		s := &run.State{Phase: "planning", Intents: []*ojson.Object{intent(c.first...), intent(c.then...)}}
		if got := intents.Next(s).String("intent_id"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzIntents gives an intent file to an assignment: whatever it contains, the run goes on, at most one intent
// results, and its turn is told what the record says.
func FuzzIntents(f *testing.F) {
	const waits = `{"intent_id":"intent_1700000000000_abcd","status":"approved","priority":"p0","cross_run_durable":true,"created_at":"2026-01-01T00:00:00.000Z"`
	f.Add([]byte(waits + `,"charter":"fix it","acceptance_contract":["it works"]}`))
	f.Add([]byte(waits + `,"acceptance_contract":["",{}],"preferred_role":"nobody"}`))
	f.Add([]byte(waits + `,"phase_scope":"ship","history":[{}],"approved_run_id":7}`))
	f.Add([]byte(`{"intent_id":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := ojson.DecodeObject(data)
		w := startedWorld(t, nil)
		op := w.assignment("pm")
		op.Intake = []intents.File{{
			Path:   intents.Path("intent_1700000000000_abcd"),
			Blob:   evidence.NewBlob(data),
			Source: "manual",
		}}
		tr, refused := w.apply(op)
		if refused != nil {
			t.Fatalf("the file stops the run: %v", refused)
		}
		w.take(tr)
		n := len(w.state.Intents)
		turn := w.state.OnlyTurn()
		switch {
		case n > 1, n == 1 && (err != nil || intents.CheckDocument(doc) != "" || !intents.Open(doc)):
			t.Fatalf("%d intents of %s", n, data)
		case turn.IntakeContext == nil:
		case n == 0 || turn.IntakeContext.String("intent_id") != w.state.Intents[0].Object("document").String(
			"intent_id"):
			t.Fatalf("the turn is told %s, the record has %d intents", ojson.Compact(turn.IntakeContext), n)
		}
	})
}

// TestDecisionIDsSideBySide: two concurrent turns choose the same id, as they cannot see each other. The second is
// refused by name, or renumbered where results are repaired; the ledger never has an id of a run twice.
func TestDecisionIDsSideBySide(t *testing.T) {
	for _, mode := range []string{"strict", "reference"} {
		w := startedWorld(t, sets("rules.result_repair", mode))
		first, second := w.assign("pm").TurnID, w.assign("qa").TurnID
		decision := []any{"decisions",
			[]any{ojson.NewObject("id", "DEC-100", "category", "process", "statement", "so", "rationale", "because")}}
		w.accept(first, decision...)
		if mode == "strict" {
			w.refuse(wire.CodeValidationFailed, second, decision...)
			if why := w.turn(second).FailureReason; !strings.Contains(why, "DEC-100") {
				t.Errorf("%s: %s", mode, why)
			}
			continue
		}
		w.accept(second, decision...)
		seen := make(map[string]bool)
		for _, row := range w.rows(wire.LedgerDecisions) {
			if id := row.String("id"); id != "" && seen[id] {
				t.Errorf("%s: the ledger has %s twice", mode, id)
			} else {
				seen[id] = true
			}
		}
		if !seen["DEC-100"] || !seen["DEC-101"] && !seen["DEC-001"] {
			t.Errorf("%s: %v", mode, seen)
		}
	}
}

func TestIntentID(t *testing.T) {
	for id, want := range map[string]bool{
		"intent_1_00ff":                     true,
		"intent_12345678901234567890_abcd":  true,
		"intent_123456789012345678901_abcd": false,
		"intent__abcd":                      false,
		"intent_1_ABCD":                     false,
		"intent_1_abc":                      false,
		"intent_1_abcde":                    false,
		"1_abcd":                            false,
		"intent_1":                          false,
		"intent_1_ab_d":                     false,
		"xintent_1_abcd":                    false,
		"intent_1_abcd\n":                   false,
		"intent_-1_abcd":                    false,
		"":                                  false,
	} {
		if intents.ValidID(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}
