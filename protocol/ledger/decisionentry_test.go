// Tests of the decision ledger rows.

package ledger

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func TestValidateDecisionEntry(t *testing.T) {
	entry := func(id, statement, category any) *ojson.Object {
		return ojson.NewObject("id", id, "statement", statement, "category", category)
	}
	has := func(id string) bool { return id == "DEC-001" }
	for _, tc := range []struct {
		entry       *ojson.Object
		code, field string
		details     string
	}{
		{entry("DEC-2", "s", "scope"), "", "", ""},
		{entry("DEC-001", "s", "scope"), CodeDuplicateDecisionID, "id", `{"duplicate_id":"DEC-001"}`},
		{entry("DEC-", "s", "scope"), CodeDecisionIDFormat, "id", ""},
		{entry("DEC-1a", "s", "scope"), CodeDecisionIDFormat, "id", ""},
		{entry("DEC-١", "s", "scope"), CodeDecisionIDFormat, "id", ""},
		{entry("DEC-1\n", "s", "scope"), CodeDecisionIDFormat, "id", ""},
		{entry(7, "s", "scope"), CodeDecisionIDFormat, "id", ""},
		{nil, CodeDecisionIDFormat, "id", ""},
		{entry("DEC-2", " \n", "scope"), CodeEmptyRequiredField, "statement", `{"error_field":"statement"}`},
		{entry("DEC-2", nil, "vibes"), CodeEmptyRequiredField, "statement", `{"error_field":"statement"}`},
		{entry("DEC-001", "s", "vibes"), CodeInvalidEnumValue, "category",
			`{"error_field":"category","valid_values":["implementation","architecture","scope","process","quality","release"]}`},
		{entry("DEC-2", "s", nil), CodeInvalidEnumValue, "category",
			`{"error_field":"category","valid_values":["implementation","architecture","scope","process","quality","release"]}`},
	} {
		err := ValidateDecisionEntry(tc.entry, has)
		if tc.code == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || err.Code != tc.code || err.Field != tc.field {
			t.Errorf("%s: %v", ojson.Compact(tc.entry), err)
			continue
		}
		if tc.details != "" && string(ojson.Compact(err.Details)) != tc.details {
			t.Errorf("%s", ojson.Compact(err.Details))
		}
	}
	if err := ValidateDecisionEntry(entry("DEC-001", "s", "scope"), nil); err != nil {
		t.Error(err)
	}
}

func TestLedgerRows(t *testing.T) {
	const at = "2026-01-02T03:04:05.678Z"
	turn := &run.Turn{TurnID: "t1", AssignedRole: "dev", Attempt: 2, RuntimeID: "man"}
	conflict := ojson.NewObject("conflicting_files", []string{"a.go"}, "overlap_ratio", 0.5,
		"accepted_since", []*ojson.Object{ojson.NewObject("turn_id", "t0"), ojson.NewObject("turn_id", "t0")})
	for name, tc := range map[string]struct {
		row  *ojson.Object
		want string
	}{
		"decision": {NewDecisionEntry(result.Decision{
			ID:        "DEC-1",
			Category:  "scope",
			Statement: "s",
			Rationale: "r",
		}, turn, "build", at),
			`{"id":"DEC-1","turn_id":"t1","role":"dev","phase":"build","runtime_id":"man","category":"scope","statement":"s","rationale":"r","objections_against":[],"status":"accepted","overridden_by":null,"created_at":"` + at + `"}`},
		"forward revision": {NewForwardRevision(at, turn, "build",
			ojson.NewObject("files", []string{"a"}, "accepted_since", []any{})),
			`{"timestamp":"` + at +
				`","decision":"forward_revision_accepted","turn_id":"t1","attempt":2,"role":"dev","phase":"build","forward_revision":{"files":["a"],"accepted_since_turn_ids":[]}}`},
		"conflict": {NewConflictEntry("conflict_rejected", at, turn, "build", conflict,
			ojson.NewObject("resolution_chosen", "reject_and_reassign")),
			`{"timestamp":"` + at +
				`","decision":"conflict_rejected","turn_id":"t1","attempt":2,"role":"dev","phase":"build","conflict":{"conflicting_files":["a.go"],"accepted_since_turn_ids":["t0"],"overlap_ratio":0.5},"resolution_chosen":"reject_and_reassign"}`},
		"conflict without facts": {NewConflictEntry("conflict_detected", at, turn, "build", nil, nil),
			`{"timestamp":"` + at +
				`","decision":"conflict_detected","turn_id":"t1","attempt":2,"role":"dev","phase":"build","conflict":{"conflicting_files":[],"accepted_since_turn_ids":[],"overlap_ratio":0}}`},
		"policy": {NewPolicyEscalation(at, turn, "build", []*ojson.Object{ojson.NewObject("policy_id", "p")}),
			`{"timestamp":"` + at +
				`","decision":"policy_escalation","turn_id":"t1","role":"dev","phase":"build","violations":[{"policy_id":"p"}]}`},
		"operator": {NewOperatorEscalatedEntry(at, "r", "build", "escalation:operator:x", ojson.NewObject("a", 1)),
			`{"timestamp":"` + at +
				`","decision":"operator_escalated","run_id":"r","phase":"build","blocked_on":"escalation:operator:x","escalation":{"a":1}}`},
		"resolved": {NewEscalationResolvedEntry(at, "r", "build", "operator_unblock", "escalation:operator:x", nil,
			"", ""),
			`{"timestamp":"` + at +
				`","decision":"escalation_resolved","run_id":"r","phase":"build","resolved_via":"operator_unblock","blocked_on":"escalation:operator:x","escalation":null,"turn_id":null,"role":null}`},
		"reissued": {NewTurnReissuedEntry(at, turn, "qa", "build", "why", &run.Baseline{
			HeadRef: new("abc"),
			Clean:   true,
		}),
			`{"timestamp":"` + at +
				`","decision":"turn_reissued","turn_id":"t1","role":"dev","new_role":"qa","phase":"build","reason":"why","old_baseline":{"head_ref":null,"clean":false},"new_baseline":{"head_ref":"abc","clean":true}}`},
		"approval policy": {NewApprovalPolicyEntry(at, run.GatePhase, "g1", "a", "b", gates.ApprovalVerdict{
			Auto:   true,
			Reason: "why",
		}),
			`{"type":"approval_policy","gate_type":"phase_transition","action":"auto_approve","matched_rule":null,"from_phase":"a","to_phase":"b","reason":"why","gate_id":"g1","timestamp":"` + at + `"}`},
		"approval policy, completion": {NewApprovalPolicyEntry(at, run.GateCompletion, "g1", "a",
			"", gates.ApprovalVerdict{Reason: "why"}),
			`{"type":"approval_policy","gate_type":"run_completion","action":"auto_approve","matched_rule":null,"reason":"why","gate_id":"g1","timestamp":"` + at + `"}`},
		"gate failure": {NewGateFailureEntry(&run.GateFailure{
			GateType:  run.GatePhase,
			GateID:    new("g1"),
			Phase:     "a",
			FromPhase: new("a"),
			ToPhase:   new("b"),
			FailedAt:  at,
			Reasons:   []string{"x"},
		}),
			`{"type":"gate_failure","gate_type":"phase_transition","gate_id":"g1","phase":"a","from_phase":"a","to_phase":"b","requested_by_turn":null,"failed_at":"` + at + `","queued_request":false,"reasons":["x"],"missing_files":[],"missing_verification":false}`},
		"reconciliation": {NewGateReconciliationEntry(at, "g1", run.GatePhase, "a", "t1", []string{"f"}),
			`{"type":"gate_reconciliation","gate_id":"g1","gate_type":"phase_transition","phase":"a","reason":"post_acceptance_reconciliation","previously_missing_files":["f"],"reconciled_at":"` + at + `","reconciled_by_turn":"t1"}`},
		"gate action": {NewGateActionEntry(GateActionRun{
			At:             at,
			AttemptID:      "ga",
			GateID:         "g1",
			GateType:       run.GatePhase,
			Phase:          "a",
			TriggerCommand: "approve-transition",
			Index:          1,
			Command:        "make",
			TimeoutMS:      5,
			ExitCode:       new(2),
		}),
			`{"type":"gate_action","timestamp":"` + at +
				`","attempt_id":"ga","gate_id":"g1","gate_type":"phase_transition","phase":"a","requested_by_turn":null,"trigger_command":"approve-transition","action_index":1,"action_label":null,"command":"make","timeout_ms":5,"status":"failed","exit_code":2,"signal":null,"stdout_tail":"","stderr_tail":"","spawn_error":null,"timed_out":false}`},
		"timeout": {NewTimeoutEntry("timeout", at, "t1", "a", limits.TimeoutHit{
			Scope:             "run",
			LimitMinutes:      5,
			ElapsedMinutes:    7,
			ExceededByMinutes: 2,
			Action:            "escalate",
		}),
			`{"type":"timeout","scope":"run","phase":"a","turn_id":"t1","limit_minutes":5,"elapsed_minutes":7,"exceeded_by_minutes":2,"action":"escalate","timestamp":"` + at + `"}`},
		"no progress": {NewNonProgressEntry(at, "g1", "sig", 3, 3, []string{"f"}),
			`{"type":"non_progress_block","gate_id":"g1","consecutive_turns":3,"threshold":3,"failing_files":["f"],"signature":"sig","timestamp":"` + at + `"}`},
		"approval": {NewHumanApprovalEntry(HumanApproval{
			Type:            "human_approval",
			GateType:        run.GatePhase,
			GateID:          "g1",
			FromPhase:       "a",
			ToPhase:         "b",
			RequestedByTurn: "t1",
			Approver:        evidence.Actor{Name: "Ann", Email: "a@b", Terminal: true},
			At:              at,
		}),
			`{"type":"human_approval","gate_type":"phase_transition","gate_id":"g1","from_phase":"a","to_phase":"b","requested_by_turn":"t1","approved_by":{"name":"Ann","email":"a@b"},"terminal":true,"timestamp":"` + at + `"}`},
	} {
		line := ojson.Compact(tc.row)
		if string(line) != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, line, tc.want)
		}
		if _, err := run.DecodeLedgerLine(line); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecodeLedgerLine(t *testing.T) {
	for name, line := range map[string]string{
		"empty":     "",
		"array":     "[]",
		"two lines": "{\n}",
		"tail":      "{} x",
		"duplicate": `{"a":1,"a":2}`,
		"truncated": `{"a":`,
		"bad UTF-8": "{\"a\":\"\xff\"}",
		"deep": strings.Repeat("[", 200) +
			strings.Repeat("]", 200),
		"word": "undefined",
	} {
		if o, err := run.DecodeLedgerLine([]byte(line)); err == nil || o != nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := run.DecodeLedgerLine([]byte(`{"a":"` + strings.Repeat("x", run.MaxLedgerLine) + `"}`)); err == nil {
		t.Error("an endless line was accepted")
	}
	if o, err := run.DecodeLedgerLine([]byte(`{"a":1} `)); err != nil || !o.Has("a") {
		t.Error(err)
	}
}

func FuzzLedgerLine(f *testing.F) {
	f.Add([]byte(`{"id":"DEC-1","statement":"s","category":"scope"}`))
	f.Add([]byte(`{"kind":"raised","escalation_id":"hesc_1"}`))
	f.Add([]byte("{\"turn_id\":\"t\\ud800\",\"accepted_sequence\":1e400}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		o, err := run.DecodeLedgerLine(line)
		if err != nil {
			return
		}
		out := ojson.Compact(o)
		back, err := run.DecodeLedgerLine(out)
		if err != nil || !ojson.Equal(o, back) {
			t.Fatalf("%q became %q: %v", line, out, err)
		}
		_ = ValidateDecisionEntry(o, nil)
		open, done := run.FoldEscalations([]*ojson.Object{o, o})
		RenderHumanTasks(line, open, done)
		run.InheritedContext("r", o, "now")
		run.NormalizeProvenance(o)
		run.ValidateEvent(o)
	})
}
