// Tests of history rows and their readers.

package ledger

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func TestBuildHistoryEntry(t *testing.T) {
	raw, err := ojson.DecodeObject(
		[]byte(`{"decisions": [{"id": "DEC-001", "x": 1}], "objections": [], "artifacts_created": ["a"], "verification": {"status": "pass"},
		"artifact": {"type": "workspace"}, "proposed_next_role": "qa", "phase_transition_request": "build", "cost": {"usd": 0.10}}`))
	if err != nil {
		t.Fatal(err)
	}
	turn := &run.Turn{
		TurnID:           "t1",
		AssignedRole:     "dev",
		RuntimeID:        "man",
		AssignedSequence: 3,
		IntakeContext:    ojson.NewObject("intent_id", "intent_1"),
	}
	facts := HistoryEntry{
		Turn:  turn,
		RunID: "run_1",
		Phase: "planning",
		Result: &result.Result{
			Status:                 "completed",
			Summary:                "s",
			PhaseTransitionRequest: new("build"),
			Raw:                    raw,
		},
		FilesChanged: []string{"a"},
		Verification: ojson.NewObject("status",
			"pass"),
		Observed:         ojson.NewObject("derived_by", "orchestrator"),
		AcceptedSequence: 4,
		AcceptedAt:       time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC),
	}
	row := BuildHistoryEntry(facts)
	base := "turn_id run_id role phase runtime_id status summary decisions objections files_changed artifacts_created verification normalized_verification artifact intent_id observed_artifact proposed_next_role phase_transition_request run_completion_request assigned_sequence accepted_sequence concurrent_with cost accepted_at"
	if got := strings.Join(row.Keys(), " "); got != base {
		t.Errorf("\n got %s\nwant %s", got, base)
	}
	for k, want := range map[string]string{
		"decisions":                `[{"id":"DEC-001","x":1}]`,
		"cost":                     `{"usd":0.10}`,
		"run_completion_request":   "false",
		"concurrent_with":          "[]",
		"phase_transition_request": `"build"`,
		"accepted_at":              `"2026-01-02T03:04:05.678Z"`,
		"intent_id":                `"intent_1"`,
	} {
		v, _ := row.Get(k)
		if got := string(ojson.Compact(v)); got != want {
			t.Errorf("%s is %s", k, got)
		}
	}
	row.Objects("decisions")[0].Set("id", "changed")
	if raw.Objects("decisions")[0].String("id") != "DEC-001" {
		t.Error("the row shares the result's members")
	}

	// Everything optional at once.
	turn.StartedAt = "2026-01-02T03:04:00.000Z"
	turn.DelegationContext, turn.DelegationReview = ojson.NewObject("delegation_id", "d"),
		ojson.NewObject("results", []any{})
	facts.Replay, facts.ForwardRevision, facts.Conflict, facts.IdleExpansion = ojson.NewObject("a", 1),
		ojson.NewObject("b", 1), ojson.NewObject("c", 1), ojson.NewObject("d", 1)
	facts.Result.Delegations = []result.DelegationRequest{{
		ID:                 "del-001",
		ToRole:             "qa",
		Charter:            "c",
		AcceptanceContract: []string{"x"},
	}}
	facts.Result.PhaseTransitionRequest = nil // stripped
	row = BuildHistoryEntry(facts)
	if row.Has("phase_transition_request") {
		t.Error("a stripped request is left out")
	}
	if n, _ := row.Int("duration_ms"); n != 5678 {
		t.Error(n)
	}
	want := "accepted_at started_at duration_ms forward_revision conflict_resolution delegations_issued delegation_context delegation_review idle_expansion_result_summary"
	if got := strings.Join(row.Keys()[slices.Index(row.Keys(), "accepted_at"):], " "); got != want {
		t.Error(got)
	}
	if got := string(ojson.Compact(
		row.Array("delegations_issued"))); got != `[{"id":"del-001","to_role":"qa","charter":"c","acceptance_contract":["x"],"required_decision_ids":[]}]` {
		t.Error(got)
	}

	// A result with next to nothing in it.
	row = BuildHistoryEntry(HistoryEntry{
		Turn:   &run.Turn{TurnID: "t"},
		Result: &result.Result{Raw: ojson.NewObject("phase_transition_request", nil)},
	})
	if v, ok := row.Get("phase_transition_request"); !ok || v != nil {
		t.Error("a null request stays null")
	}
	if got := string(ojson.Compact(row)); !strings.Contains(got,
		`"decisions":[],"objections":[],"files_changed":[]`) || !strings.Contains(got, `"cost":{}`) {
		t.Error(got)
	}
	if _, err := run.DecodeLedgerLine(ojson.Compact(row)); err != nil {
		t.Error(err)
	}
}

func TestBuildReissuedEntry(t *testing.T) {
	old := &run.Turn{TurnID: "t1", AssignedRole: "dev", AssignedSequence: 3, AssignedAt: "2026-01-02T03:04:00.000Z"}
	row := BuildReissuedEntry(old, "run_1", "planning", "why", time.Date(2026, 1, 2, 3, 4, 1, 0, time.UTC))
	if got := string(ojson.Compact(
		row)); got != `{"turn_id":"t1","run_id":"run_1","role":"dev","phase":"planning","status":"reissued","summary":"Turn reissued: why","files_changed":[],"assigned_sequence":3,"accepted_at":"2026-01-02T03:04:01.000Z","duration_ms":1000,"reissue_reason":"why"}` {
		t.Error(got)
	}
	if run.AcceptedRow(row, "run_1") {
		t.Error("a reissued turn is no accepted one")
	}
}
