// Table tests of the normalisation rules N1-N31 (docs/spec/results.md#normalisation).

package result

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// normalizeRun applies the rules only and returns the document and the events
// as "field: original -> normalized (rationale)".
func normalizeRun(t testing.TB, c resultCase) (*ojson.Object, []string) {
	t.Helper()
	in := c.input(t)
	n := newNormalizer(in, in.Raw.(*ojson.Object).Clone())
	n.run()
	events := []string{}
	for _, e := range n.events {
		events = append(events, fmt.Sprintf("%s: %s -> %s (%s)", e.Field, ojson.Compact(e.Original),
			ojson.Compact(e.Normalized), e.Rationale))
		if note := e.Note(); !strings.HasPrefix(note, "[normalized] ") || strings.Contains(note, "%!") {
			t.Errorf("note %q", note)
		}
	}
	return n.doc, events
}

func TestNormalizeRules(t *testing.T) {
	review := func(patch string) resultCase { return resultCase{role: "qa", patch: patch} }
	last := func(patch string) resultCase { return resultCase{role: "qa", phase: "qa", patch: patch} }
	for _, c := range []struct {
		rule string
		resultCase
		events []string
		check  string // members of the outcome, as JSON
	}{
		{"N1 wrong", resultCase{patch: `{"run_id":"run_x"}`},
			[]string{`run_id: "run_x" -> "run_1" (run_id_rewritten_from_active_turn_context)`}, `{"run_id":"run_1"}`},
		{"N1 missing", resultCase{patch: `{"-run_id":0}`},
			[]string{`run_id: null -> "run_1" (run_id_rewritten_from_active_turn_context)`}, `{"run_id":"run_1"}`},
		{"N1 padded is left", resultCase{patch: `{"run_id":" run_1 "}`}, nil, `{"run_id":" run_1 "}`},
		{"N1 other turn", resultCase{patch: `{"run_id":"run_x","turn_id":"turn_b"}`}, nil, `{"run_id":"run_x"}`},
		{"N1 turn of another run", resultCase{
			patch: `{"run_id":"run_x"}`,
			tweak: func(in *Input) { in.Turn.RunID = "run_2" },
		}, nil, `{"run_id":"run_x"}`},
		{"N2", resultCase{patch: `{"-files_changed":0,"files_modified":["a"]}`},
			[]string{`files_changed: null -> "(renamed from files_modified)" (files_modified_renamed_to_files_changed)`}, `{"files_changed":["a"],"files_modified":null}`},
		{"N2 both", resultCase{patch: `{"files_modified":["b"]}`}, nil,
			`{"files_changed":["src/a.go"],"files_modified":["b"]}`},
		{"N3 N4", resultCase{patch: `{"-decisions":0,"-objections":0}`},
			[]string{"decisions: null -> [] (missing_decisions_array_defaulted)",
				"objections: null -> [] (missing_objections_array_defaulted)"}, `{"decisions":[],"objections":[]}`},
		{"N3 null is not absent", resultCase{patch: `{"decisions":null}`}, nil, `{"decisions":null}`},
		{"N5", resultCase{patch: `{"runtime_id":""}`},
			[]string{`runtime_id: "" -> "hand" (missing_runtime_id_defaulted_from_context)`}, `{"runtime_id":"hand"}`},
		{"N6 title", resultCase{patch: `{"summary":" ","milestone_title":"MT","milestone":"m"}`},
			[]string{`summary: " " -> "MT" (missing_summary_synthesized_from_milestone_title)`}, `{"summary":"MT"}`},
		{"N6 milestone", resultCase{patch: `{"-summary":0,"milestone_title":" ","milestone":"m"}`},
			[]string{`summary: null -> "dev turn for m" (missing_summary_synthesized_from_milestone)`},
			`{"summary":"dev turn for m"}`},
		{"N6 fallback", resultCase{patch: `{"summary":null}`},
			[]string{`summary: null -> "dev turn completed" (missing_summary_synthesized_from_fallback)`}, ``},
		{"N6 no role", resultCase{patch: `{"summary":null,"-role":0}`},
			[]string{`summary: null -> "agent turn completed" (missing_summary_synthesized_from_fallback)`}, ``},
		{"N6 other type is left", resultCase{patch: `{"summary":7}`}, nil, `{"summary":7}`},
		{"N7 workspace", resultCase{patch: `{"-artifact":0}`},
			[]string{`artifact: null -> {"type":"workspace"} (missing_artifact_inferred_from_files_changed)`}, ``},
		{"N7 review", resultCase{patch: `{"artifact":"x","files_changed":[]}`},
			[]string{`artifact: "x" -> {"type":"review"} (missing_artifact_inferred_from_files_changed)`}, ``},
		{"N8", resultCase{patch: `{"proposed_next_role":null}`}, []string{
			`proposed_next_role: null -> "qa" (missing_proposed_next_role_defaulted)`,
		}, `{"proposed_next_role":"qa"}`},
		{"N8 no routing", resultCase{
			phase: "ghost",
			patch: `{"-proposed_next_role":0}`,
		}, []string{`proposed_next_role: null -> "pm" (missing_proposed_next_role_defaulted)`},
			`{"proposed_next_role":"pm"}`},
		{"N9 completed", resultCase{patch: `{"status":"DONE"}`},
			[]string{`status: "DONE" -> "completed" (status_synonym_rewritten)`}, `{"status":"completed"}`},
		{"N9 failed", resultCase{patch: `{"status":"Failure"}`},
			[]string{`status: "Failure" -> "failed" (status_synonym_rewritten)`}, `{"status":"failed"}`},
		{"N9 wrong case is no synonym", resultCase{patch: `{"status":"Completed"}`}, nil, `{"status":"Completed"}`},
		{"N10", resultCase{patch: `{"files_changed":[{"path":"a","why":1},"b",{"p":1}]}`},
			[]string{`files_changed: "(object entries)" -> "(path strings)" (files_changed_object_to_string)`},
			`{"files_changed":["a","b",{"p":1}]}`},
		{"N11 by position",
			resultCase{patch: `{"decisions":[{"id":"DEC-9","category":"scope","statement":"s","rationale":"r"},{"id":"ONE","category":"scope","statement":"s","rationale":"r"}]}`},
			[]string{`decisions[1].id: "ONE" -> "DEC-002" (invalid_decision_id_rewritten)`}, ``},
		{"N11 position taken here",
			resultCase{patch: `{"decisions":[{"id":"DEC-2","category":"scope","statement":"s","rationale":"r"},{"category":"scope","statement":"s","rationale":"r"}]}`},
			[]string{`decisions[1].id: null -> "DEC-003" (invalid_decision_id_rewritten)`}, ``},
		{"N11 position taken in the run", resultCase{
			patch: `{"decisions":[{"id":"x","category":"scope","statement":"s","rationale":"r"}]}`,
			tweak: func(in *Input) {
				in.UsedDecisions = &run.DecisionIDs{}
				in.UsedDecisions.Add("DEC-1")
				in.UsedDecisions.Add("DEC-40")
			},
		}, []string{`decisions[0].id: "x" -> "DEC-041" (invalid_decision_id_rewritten)`}, ``},
		{"N11 never its own override",
			resultCase{patch: `{"decisions":[{"id":"x","category":"scope","statement":"s","rationale":"r","overrides":"DEC-001"}]}`},
			[]string{`decisions[0].id: "x" -> "DEC-002" (invalid_decision_id_rewritten)`}, ``},
		{"N11 not a repository decision's", resultCase{
			patch: `{"decisions":[{"id":"x","category":"scope","statement":"s","rationale":"r"}]}`,
			tweak: func(in *Input) {
				in.State.RepoDecisions = []*ojson.Object{ojson.NewObject("id", "DEC-001")}
			},
		}, []string{`decisions[0].id: "x" -> "DEC-002" (invalid_decision_id_rewritten)`}, ``},
		{"N12 N13 N14", resultCase{patch: `{"decisions":[{"id":"DEC-1","category":"odd","decision":"d","why":"w"}]}`},
			[]string{`decisions[0].statement: null -> "d" (copied_from_decision)`,
				`decisions[0].rationale: null -> "w" (copied_from_why)`,
				`decisions[0].category: "odd" -> "implementation" (missing_category_defaulted)`}, ``},
		{"N12 a blank source ends it",
			resultCase{patch: `{"decisions":[{"id":"DEC-1","category":"scope","rationale":"r","description":" ","title":"t"}]}`}, nil, ``},
		{"N12 other types are passed over",
			resultCase{patch: `{"decisions":[{"id":"DEC-1","category":"scope","rationale":"r","decision":1,"title":"t"}]}`}, []string{`decisions[0].statement: null -> "t" (copied_from_title)`}, ``},
		{"N13 skips blanks",
			resultCase{patch: `{"decisions":[{"id":"DEC-1","category":"scope","statement":"s","reason":" "}]}`},
			[]string{`decisions[0].rationale: null -> "s" (copied_from_statement)`}, ``},
		{"N15 pass", resultCase{patch: `{"verification":{"exit_code":0}}`},
			[]string{`verification.status: null -> "pass" (verification_status_inferred_from_exit_code)`}, ``},
		{"N15 fail", resultCase{patch: `{"verification":{"exit_code":2}}`},
			[]string{`verification.status: null -> "fail" (verification_status_inferred_from_exit_code)`}, ``},
		{"N15 skipped", resultCase{patch: `{"verification":{"exit_code":"0"}}`},
			[]string{`verification.status: null -> "skipped" (verification_status_inferred_from_exit_code)`}, ``},
		{"N16",
			resultCase{patch: `{"verification":{"status":"pass","evidence_summary":"old","machine_evidence":[{"type":" t ","path":"p","marker":3,"contract":["a","b"],"buckets_observed":{"x":1}},{"command":"c","exit_code":0,"type":"t"},{"type":"u"}]}}`},
			[]string{`verification.machine_evidence[0]: {"type":" t ","path":"p","marker":3,"contract":["a","b"],"buckets_observed":{"x":1}} -> "[type=t, path=p, contract=a | b, buckets_observed={\"x\":1}]" (structured_machine_evidence_moved_to_evidence_summary)`,
				`verification.machine_evidence[2]: {"type":"u"} -> "[type=u]" (structured_machine_evidence_moved_to_evidence_summary)`},
			`{"verification":{"status":"pass","evidence_summary":"old\nStructured evidence: [type=t, path=p, contract=a | b, buckets_observed={\"x\":1}]; [type=u]","machine_evidence":[{"command":"c","exit_code":0,"type":"t"}]}}`},
		{"no exit code is taken as expected",
			resultCase{patch: `{"verification":{"status":"pass","machine_evidence":[{"command":"c","exit_code":2},{"command":"c","exit_code":3,"expected_exit_code":"3"}]}}`}, nil, ``},
		{"N18", resultCase{patch: `{"artifact":{"ref":"x"}}`},
			[]string{`artifact.type: null -> "workspace" (artifact_type_inferred_from_files_changed)`},
			`{"artifact":{"ref":"x","type":"workspace"}}`},
		{"N19 completion", resultCase{phase: "qa", patch: `{"files_changed":[],"run_completion_request":true}`},
			[]string{`artifact.type: "workspace" -> "review" (empty_files_changed_no_repo_mutation_declared)`,
				`artifact.ref: null -> "turn:turn_a" (empty_files_changed_no_repo_mutation_declared)`},
			`{"artifact":{"type":"review","ref":"turn:turn_a"}}`},
		{"N19 operator", resultCase{
			patch: `{"files_changed":[]}`,
			tweak: func(in *Input) { in.NormalizeReview = true },
		},
			[]string{`artifact.type: "workspace" -> "review" (empty_files_changed_no_repo_mutation_declared)`,
				`artifact.ref: null -> "turn:turn_a" (empty_files_changed_no_repo_mutation_declared)`}, ``},
		{"N19 needs human",
			resultCase{patch: `{"files_changed":[],"status":"needs_human","needs_human_reason":"Which one"}`},
			[]string{`artifact.type: "workspace" -> "review" (empty_files_changed_no_repo_mutation_declared)`,
				`artifact.ref: null -> "turn:turn_a" (empty_files_changed_no_repo_mutation_declared)`}, ``},
		{"N19 not meant", resultCase{patch: `{"files_changed":[]}`}, nil, `{"artifact":{"type":"workspace"}}`},
		{"N19 produced file",
			resultCase{patch: `{"files_changed":[],"run_completion_request":true,"verification":{"status":"skipped","produced_files":[{"path":"o","disposition":null}]}}`}, nil, `{"artifact":{"type":"workspace"}}`},
		{"N20 N21",
			resultCase{patch: `{"objections":[{"id":"OBJ-2","severity":"low","statement":"s"},{"severity":"low","detail":"d"}]}`},
			[]string{`objections[1].id: null -> "OBJ-003" (invalid_objection_id_rewritten)`,
				`objections[1].statement: null -> "d" (copied_from_detail)`}, ``},
		{"N21 summary first",
			resultCase{patch: `{"objections":[{"id":"OBJ-2","severity":"low","detail":"d","summary":"s"}]}`},
			[]string{`objections[0].statement: null -> "s" (copied_from_summary)`}, ``},
		{"N22 reason", resultCase{patch: `{"-status":0,"needs_human_reason":"why"}`},
			[]string{`status: null -> "needs_human" (status_inferred_from_needs_human_reason)`}, ``},
		{"N22 transition", resultCase{patch: `{"-status":0,"phase_transition_request":"qa"}`},
			[]string{`status: null -> "completed" (status_inferred_from_phase_transition_request)`}, ``},
		{"N22 completion", resultCase{
			phase: "qa",
			patch: `{"-status":0,"run_completion_request":true}`,
		}, []string{`status: null -> "completed" (status_inferred_from_run_completion_request)`}, ``},
		{"N22 no clue", resultCase{patch: `{"-status":0}`}, nil, `{"status":null}`},
		{"N23", resultCase{patch: `{"artifacts_created":[{"path":"p"},{"name":"n"},{"z":1},"s"]}`},
			[]string{`artifacts_created[0]: {"path":"p"} -> "p" (artifacts_created_object_to_string)`,
				`artifacts_created[1]: {"name":"n"} -> "n" (artifacts_created_object_to_string)`,
				`artifacts_created[2]: {"z":1} -> "{\"z\":1}" (artifacts_created_object_to_string)`},
			`{"artifacts_created":["p","n","{\"z\":1}","s"]}`},
		{"N24", resultCase{patch: `{"idle_expansion_result":{"kind":"new_intake_intent","vision_exhausted":false}}`},
			[]string{`idle_expansion_result.vision_exhausted: false -> null (false_vision_exhausted_removed)`},
			`{"idle_expansion_result":{"kind":"new_intake_intent"}}`},
		{"N25", resultCase{patch: `{"phase_transition_request":"code_gate"}`},
			[]string{`phase_transition_request: "code_gate" -> "qa" (gate_name_corrected_to_phase)`}, ``},
		{"N25 terminal", resultCase{phase: "qa", patch: `{"phase_transition_request":"ship_gate"}`},
			[]string{`phase_transition_request: "ship_gate" -> null (terminal_gate_name_corrected_to_run_completion)`,
				`run_completion_request: null -> true (terminal_gate_name_corrected_to_run_completion)`}, ``},
		{"N25 gate of no phase", resultCase{patch: `{"phase_transition_request":"loose_gate"}`}, nil, ``},
		{"N26 transition", review(`{"status":"needs_human","needs_human_reason":"Ready to go"}`),
			[]string{`status: "needs_human" -> "completed" (review_affirmation_is_no_reason_to_stop)`,
				`needs_human_reason: "Ready to go" -> null (review_affirmation_is_no_reason_to_stop)`,
				`phase_transition_request: null -> "qa" (review_affirmation_read_as_phase_transition)`}, ``},
		{"N26 completion", last(`{"status":"needs_human","needs_human_reason":"LGTM"}`),
			[]string{`status: "needs_human" -> "completed" (review_affirmation_is_no_reason_to_stop)`,
				`needs_human_reason: "LGTM" -> null (review_affirmation_is_no_reason_to_stop)`,
				`run_completion_request: null -> true (review_affirmation_read_as_run_completion)`}, ``},
		{"N26 explicit no",
			last(`{"status":"needs_human","needs_human_reason":"LGTM","run_completion_request":false}`), nil, ``},
		{"N26 blocker", last(`{"status":"needs_human","needs_human_reason":"ready but unsafe"}`), nil, ``},
		{"N26 blocking objection open",
			last(`{"status":"needs_human","needs_human_reason":"LGTM","objections":[{"id":"OBJ-1","severity":"blocking","statement":"s"}]}`), nil, ``},
		{"N26 not for builders", resultCase{patch: `{"status":"needs_human","needs_human_reason":"LGTM"}`}, nil, ``},
		{"N27 transition", review(`{}`),
			[]string{`phase_transition_request: null -> "qa" (phase_transition_inferred_for_completed_review)`}, ``},
		{"N27 completion", last(`{}`),
			[]string{`run_completion_request: null -> true (run_completion_inferred_for_completed_review)`}, ``},
		{"N27 explicit no", last(`{"run_completion_request":false}`), nil, ``},
		{"N27 high objection open", last(`{"objections":[{"id":"OBJ-1","severity":"high","statement":"s"}]}`), nil,
			``},
		{"N27 high objection resolved",
			last(`{"objections":[{"id":"OBJ-1","severity":"high","statement":"s","status":"resolved"}]}`),
			[]string{`run_completion_request: null -> true (run_completion_inferred_for_completed_review)`}, ``},
		{"N27 objection of the run open", resultCase{
			role:  "qa",
			phase: "qa",
			tweak: func(in *Input) { in.SeriousObjectionOpen = true },
		}, nil, ``},
		{"N27 delegates", last(
			`{"delegations":[{"id":"del-001","to_role":"dev","charter":"c","acceptance_contract":["a"]}]}`), nil, ``},
		{"N27 works on a delegation", resultCase{role: "qa", phase: "qa", tweak: func(in *Input) {
			in.Turn = &run.Turn{AssignedRole: "qa", DelegationContext: ojson.NewObject("delegation_id", "del-001")}
		}}, nil, ``},
		{"N27 reviews a delegation", resultCase{role: "qa", phase: "qa", tweak: func(in *Input) {
			in.Turn = &run.Turn{AssignedRole: "qa", DelegationReview: ojson.NewObject("parent_turn_id", "turn_1")}
		}}, nil, ``},
		{"N27 unknown phase", resultCase{role: "qa", phase: "ghost"}, nil, ``},
		{"N28", resultCase{
			phase: "planning",
			patch: `{"phase_transition_request":"qa"}`,
		}, []string{`phase_transition_request: "qa" -> "implementation" (skip_forward_phase_corrected_to_next_phase)`},
			``},
		{"N28b", resultCase{phase: "planning", patch: `{"phase_transition_request":"qa","proposed_next_role":"qa"}`},
			[]string{`phase_transition_request: "qa" -> "implementation" (skip_forward_phase_corrected_to_next_phase)`,
				`proposed_next_role: "qa" -> "dev" (aligned_to_corrected_phase_entry_role)`}, ``},
		{"N28 not for reviews", resultCase{
			role:  "qa",
			phase: "planning",
			patch: `{"phase_transition_request":"qa"}`,
		}, nil, ``},
		{"N28 not when failed", resultCase{
			phase: "planning",
			patch: `{"phase_transition_request":"qa","status":"failed"}`,
		}, nil, ``},
		{"N29 backward", review(`{"phase_transition_request":"planning"}`),
			[]string{`phase_transition_request: "planning" -> "qa" (review_transition_corrected_to_next_phase)`}, ``},
		{"N29 terminal", last(`{"phase_transition_request":"planning"}`),
			[]string{`phase_transition_request: "planning" -> null (review_transition_corrected_to_run_completion)`,
				`run_completion_request: null -> true (review_transition_corrected_to_run_completion)`}, ``},
		{"N29 blocking objection open",
			last(`{"phase_transition_request":"implementation","objections":[{"id":"OBJ-1","severity":"blocking","statement":"s"}]}`), nil, ``},
		{"N30", last(`{"run_completion_request":true,"proposed_next_role":"dev"}`),
			[]string{`proposed_next_role: "dev" -> "human" (run_completion_goes_to_human)`}, ``},
		{"N31 review", review(`{"proposed_next_role":"pm","phase_transition_request":"qa"}`),
			[]string{`proposed_next_role: "pm" -> "dev" (routing_illegal_for_phase_implementation)`}, ``},
		{"N31 others", resultCase{patch: `{"proposed_next_role":"Bad Role"}`},
			[]string{`proposed_next_role: "Bad Role" -> "qa" (routing_illegal_for_phase_implementation)`}, ``},
		{"N31 placeholder is left", resultCase{patch: `{"proposed_next_role":"<role>"}`}, nil,
			`{"proposed_next_role":"<role>"}`},
		{"N31 not when blocked", resultCase{patch: `{"proposed_next_role":"pm","status":"blocked"}`}, nil, ``},
	} {
		t.Run(c.rule, func(t *testing.T) {
			doc, events := normalizeRun(t, c.resultCase)
			if c.events == nil {
				c.events = []string{}
			}
			if diff := cmp.Diff(c.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if c.check == "" {
				return
			}
			want, err := ojson.DecodeObject([]byte(c.check))
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range want.All() {
				if got, _ := doc.Get(k); !ojson.Equal(got, v) {
					t.Errorf("%s is %s, want %s", k, ojson.Compact(got), ojson.Compact(v))
				}
			}
		})
	}
}

func TestEvidenceTextIsCut(t *testing.T) {
	got := evidenceText(ojson.NewObject("type", "t", "path", strings.Repeat("p", 221),
		"marker", strings.Repeat("m", 220)))
	if want := "[type=t, path=" + strings.Repeat("p", 217) + "..., marker=" + strings.Repeat("m", 220) +
		"]"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestAffirms(t *testing.T) {
	for reason, want := range map[string]bool{
		"ready":            true,
		"READY to ship!":   true,
		"sign off, please": true,
		"sign-off":         true,
		"signoff":          true,
		"sign  off":        false,
		// "block" is a word of its own here
		"approv":                  true,
		"approved":                false,
		"shipped":                 false,
		"no_block":                true,
		"noblock":                 true,
		"no block":                false,
		"lgtm but critical":       false,
		"lgtm, critically good":   true,
		"must fix before release": false,
		"mustfix pass":            false,
		"must-fixes pass":         true,
		"pass_1":                  false,
		"été pass":                true,
		"épass":                   true,
		"":                        false,
		"nothing to say":          false,
		"green\nlight":            false,
		"green\u2028light":        false,
		"green😀light":             false,
		"greenélight":             true,
	} {
		if got := affirms(reason); got != want {
			t.Errorf("affirms(%q) = %v", reason, got)
		}
	}
}

func TestCutText(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"é😀x", 2, "é"}, {"é😀x", 3, "é😀"}, {"", 0, ""}, {"x", 0, ""}} {
		if got := wire.Cut(c.s, c.n); got != c.want {
			t.Errorf("cutText(%q, %d) = %q", c.s, c.n, got)
		}
	}
}
