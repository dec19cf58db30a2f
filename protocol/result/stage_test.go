// Table tests of stages B to E (docs/spec/results.md#the-five-stages).

package result

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func TestStageAssignment(t *testing.T) {
	runRefusals(t, StageAssignment, []refusalCase{
		{"no state", resultCase{tweak: func(in *Input) { in.State = nil }}, []string{"state_not_loaded"}},
		{"no turn", resultCase{tweak: func(in *Input) { in.Turn = nil }}, []string{"no_active_turn turn_id"}},
		{"no turn, other run", resultCase{
			patch: `{"run_id":"run_2"}`,
			tweak: func(in *Input) { in.Turn = nil },
		}, []string{"run_id_mismatch run_id", "no_active_turn turn_id"}},
		{"all", resultCase{patch: `{"run_id":"run_2","turn_id":"turn_b","role":"qa","runtime_id":"api"}`},
			[]string{"run_id_mismatch run_id", "turn_id_mismatch turn_id", "role_mismatch role",
				"runtime_mismatch runtime_id"}},
		{"padded run", resultCase{patch: `{"run_id":"run_1 "}`}, []string{"run_id_mismatch run_id"}},
	})
	// An empty side of the state is not compared.
	resultCase{patch: `{"run_id":"any","turn_id":"any","runtime_id":"hand"}`, tweak: func(in *Input) {
		in.State.RunID = nil
		in.Turn = &run.Turn{AssignedRole: "dev"}
	}}.passes(t)
}

func TestStageArtifact(t *testing.T) {
	patch := func(p string) resultCase { return resultCase{patch: p} }
	review := func(p string) resultCase { return resultCase{role: "qa", patch: p} }
	writer := func(p string) resultCase { return resultCase{role: "writer", patch: p} }
	planning := func(p string) resultCase { return resultCase{role: "pm", phase: "planning", patch: p} }
	change := func(members string) resultCase { return writer(`{"proposed_changes":[{` + members + `}]}`) }
	runRefusals(t, StageArtifact, []refusalCase{
		{"review_only product", review(`{"files_changed":["src/a.go",".planning/x.md"]}`),
			[]string{"review_only_product_change files_changed"}},
		{"review_only hides behind ..", review(`{"files_changed":[".planning/../src/a.go"]}`),
			[]string{"unsafe_path files_changed[0]"}},
		{"review_only artifact", review(`{"artifact":{"type":"commit"}}`),
			[]string{"review_only_artifact_type artifact.type"}},
		{"review_only workspace", review(`{"artifact":{"type":"workspace"},"files_changed":[".planning/x.md"]}`),
			[]string{"review_only_artifact_type artifact.type", "workspace_requires_authority artifact.type"}},
		{"proposed workspace", writer(`{"artifact":{"type":"workspace"}}`),
			[]string{"workspace_requires_authority artifact.type"}},
		{"empty workspace", planning(`{"files_changed":[]}`), []string{"empty_workspace_artifact files_changed"}},
		{"empty workspace, ignored file",
			planning(`{"files_changed":[],"verification":{"status":"skipped","produced_files":[{"path":"o","disposition":"ignore"}]}}`), []string{"empty_workspace_artifact files_changed"}},
		{"reserved",
			patch(`{"files_changed":["src/a.go",".agentxchain/state.json",".agentxchain/history.jsonl",".agentxchain/decision-ledger.jsonl",".agentxchain/lock.json"]}`),
			[]string{"reserved_path_violation files_changed[1]", "reserved_path_violation files_changed[2]",
				"reserved_path_violation files_changed[3]", "reserved_path_violation files_changed[4]"}},
		{"reserved, spelled otherwise",
			patch(`{"files_changed":["./.agentxchain//state.json",".AgentXchain/State.JSON",".agentxchain\\lock.json",".agentxchain./lock.json "]}`),
			[]string{"reserved_path_violation files_changed[0]", "reserved_path_violation files_changed[1]",
				"reserved_path_violation files_changed[2]", "reserved_path_violation files_changed[3]"}},
		{"governed configuration",
			patch(`{"files_changed":["sub/agentxchain.json","agentxchain.json","./AgentXchain.JSON"]}`),
			[]string{"governed_config_change files_changed[1]", "governed_config_change files_changed[2]"}},
		{"unsafe",
			patch(`{"files_changed":["src/a.go","","/etc/passwd","a/../b",".git/config","a/.GIT/x","a\u0000b","C:\\x","..\\x"]}`),
			[]string{"unsafe_path files_changed[1]", "unsafe_path files_changed[2]", "unsafe_path files_changed[3]",
				"unsafe_path files_changed[4]", "unsafe_path files_changed[5]", "unsafe_path files_changed[6]",
				"unsafe_path files_changed[7]", "unsafe_path files_changed[8]"}},
		{"produced files",
			patch(`{"verification":{"status":"skipped","produced_files":[{"path":"../x","disposition":"ignore"},{"path":".git/index","disposition":"ignore"},{"path":".agentxchain/state.json"}]}}`),
			[]string{"unsafe_path verification.produced_files[0].path",
				"unsafe_path verification.produced_files[1].path",
				"reserved_path_violation verification.produced_files[2].path"}},
		{"review file", review(`{"artifact":{"type":"review","ref":".agentxchain/reviews/../state.json"}}`),
			[]string{"reserved_path_violation artifact.ref"}},
		{"product in a review", planning(`{"artifact":{"type":"review"}}`),
			[]string{"product_change_in_review artifact.type"}},
		{"staging in a review", planning(`{"artifact":{"type":"review"},"files_changed":[".agentxchain/staging/x"]}`),
			[]string{"product_change_in_review artifact.type"}},
		{"nothing implemented", patch(`{"files_changed":[".planning/plan.md"]}`),
			[]string{"implementation_without_product_change files_changed"}},
		{"no proposal", writer(`{"proposed_changes":[]}`), []string{"proposed_changes_missing proposed_changes"}},
		{"change no object", writer(`{"proposed_changes":[1]}`),
			[]string{"invalid_proposed_change proposed_changes[0]"}},
		{"change empty", change(``), []string{"invalid_proposed_change proposed_changes[0].path",
			"invalid_proposed_change proposed_changes[0].action"}},
		{"change content", change(`"path":"a","action":"modify"`),
			[]string{"invalid_proposed_change proposed_changes[0].content"}},
		{"change reserved", change(`"path":".agentxchain/./lock.json","action":"delete"`),
			[]string{"reserved_path_violation proposed_changes[0].path"}},
		{"change outside", change(`"path":"../../../x","action":"create","content":""`),
			[]string{"unsafe_path proposed_changes[0].path"}},
	})
}

func TestStageArtifactPasses(t *testing.T) {
	for _, c := range []resultCase{
		{patch: `{"artifact":{"type":"commit"}}`}, {patch: `{"artifact":{"type":"patch"}}`},
		{role: "pm", phase: "planning", patch: `{"files_changed":[".planning/x.md"],"artifact":{"type":"review"}}`},
		{
			role:  "pm",
			phase: "planning",
			patch: `{"files_changed":[],"verification":{"status":"skipped","produced_files":[{"path":"o"}]}}`,
		},
		{
			role:  "writer",
			patch: `{"artifact":{"type":"review"}}`,
		}, {role: "writer", patch: `{"artifact":{"type":"commit"}}`},
		{role: "writer", patch: `{"proposed_changes":[],"status":"blocked"}`},
		{role: "writer", phase: "qa", patch: `{"proposed_changes":[],"run_completion_request":true}`},
		{
			role:  "qa",
			patch: `{"files_changed":[".planning/x.md",".agentxchain/reviews/r.md"],"artifact":{"type":"review","ref":"git:abc"}}`,
		},
		{patch: `{"files_changed":[".planning/x.md"]}`, tweak: func(in *Input) { in.EarlierProduct = true }},
		{patch: `{"files_changed":[".planning/x.md"],"status":"blocked"}`},
		{patch: `{"files_changed":["src/with space\nand line","src/ünï","src/back\\slash"]}`},
		{patch: `{"role":"ghost","files_changed":["a"]}`, tweak: func(in *Input) { in.Turn.AssignedRole = "ghost" }},
	} {
		c.passes(t)
	}
}

func TestReservedPathReportsSpellingGiven(t *testing.T) {
	v := resultCase{patch: `{"files_changed":["./.agentxchain/state.json"]}`}.validate(t)
	if p := v.Errors[0]; p.Value != "./.agentxchain/state.json" || p.Code != ProblemReservedPath {
		t.Errorf("%+v", p)
	}
}

func TestMessagesNameFewFiles(t *testing.T) {
	v := resultCase{role: "qa", patch: `{"files_changed":["a","b","c","d","e","f","g"]}`}.validate(t)
	if m := v.Errors[0].Message; !strings.Contains(m, `"a", "b", "c", "d", "e" and 2 more`) {
		t.Errorf("message %q", m)
	}
}

// A proposing role on a runtime that is not declared counts as manual.
func TestProposalOnUndeclaredRuntime(t *testing.T) {
	resultCase{
		role:  "writer",
		patch: `{"runtime_id":"ghost","proposed_changes":[]}`,
		tweak: func(in *Input) { in.Turn.RuntimeID = "ghost" },
	}.passes(t)
}

func TestPathsAreNormalized(t *testing.T) {
	v := resultCase{patch: `{"files_changed":["./src/a","src//b/","src/c"],"verification":{"status":"skipped","produced_files":[{"path":"./o"}]},"artifact":{"type":"workspace","ref":"./not/a/review"}}`}.passes(t)
	if diff := cmp.Diff([]string{"src/a", "src/b", "src/c"}, v.Result.FilesChanged); diff != "" {
		t.Error(diff)
	}
	if v.Result.Verification.ProducedFiles[0].Path != "o" || v.Result.Artifact.Ref != "./not/a/review" {
		t.Errorf("%+v %+v", v.Result.Verification.ProducedFiles, v.Result.Artifact)
	}
	if len(v.Events) != 3 || v.Events[0].Field != "files_changed[0]" ||
		v.Events[0].Rationale != "path_spelling_normalized" || len(v.Warnings) < 3 {
		t.Errorf("events %+v", v.Events)
	}
	v = resultCase{role: "writer", patch: `{"proposed_changes":[{"path":"a/./b","action":"delete"}]}`}.passes(t)
	if v.Result.ProposedChanges[0].Path != "a/b" || v.Result.ProposedChanges[0].Raw.String("path") != "a/b" {
		t.Errorf("%+v", v.Result.ProposedChanges)
	}
	v = resultCase{role: "qa", patch: `{"artifact":{"type":"review","ref":"./.agentxchain//reviews/r.md"}}`}.passes(t)
	if v.Result.Artifact.Ref != ".agentxchain/reviews/r.md" {
		t.Errorf("ref %q", v.Result.Artifact.Ref)
	}
}

func TestStageWarnings(t *testing.T) {
	for _, c := range []struct {
		want string
		resultCase
	}{
		{"changed only tests", resultCase{patch: `{"files_changed":["tests/a.go",".planning/x.md"]}`}},
		{"proposed_changes are ignored", resultCase{role: "qa", patch: `{"proposed_changes":[]}`}},
		{"without any evidence",
			resultCase{patch: `{"verification":{"status":"pass","commands":[],"evidence_summary":" "}}`}},
		{"1 command(s) whose non-zero exit code",
			resultCase{patch: `{"verification":{"status":"pass","machine_evidence":[{"command":"c","exit_code":1,"expected_exit_code":1}]}}`}},
		{"does not say what a person has to do", resultCase{patch: `{"status":"needs_human"}`}},
		{"asks to move the run on", resultCase{patch: `{"status":"failed","phase_transition_request":"qa"}`}},
	} {
		v := c.passes(t)
		if !strings.Contains(strings.Join(v.Warnings, "\n"), c.want) {
			t.Errorf("%s: %q", c.want, v.Warnings)
		}
	}
}

func TestStageVerification(t *testing.T) {
	verification := func(members string) resultCase { return resultCase{patch: `{"verification":{` + members + `}}`} }
	evidence := func(entry string) resultCase {
		return verification(`"status":"pass","machine_evidence":[` + entry + `]`)
	}
	runRefusals(t, StageVerification, []refusalCase{
		{"commands", verification(`"status":"pass","commands":["a"," ",1]`),
			[]string{"invalid_verification_command verification.commands[1]",
				"invalid_verification_command verification.commands[2]"}},
		{"evidence type", evidence(`1`), []string{"invalid_machine_evidence verification.machine_evidence[0]"}},
		{"evidence members", evidence(`{}`),
			[]string{"invalid_machine_evidence verification.machine_evidence[0].command",
				"invalid_machine_evidence verification.machine_evidence[0].exit_code"}},
		{"expected type", evidence(`{"command":"c","exit_code":0,"expected_exit_code":"0"}`),
			[]string{"invalid_machine_evidence verification.machine_evidence[0].expected_exit_code"}},
		{"another code", evidence(`{"command":"c","exit_code":2,"expected_exit_code":1}`),
			[]string{"undeclared_nonzero_exit verification.machine_evidence"}},
		{"produced type", verification(`"status":"fail","produced_files":[1,{"path":" ","disposition":"keep"}]`),
			[]string{"invalid_produced_file verification.produced_files[0]",
				"invalid_produced_file verification.produced_files[1].path",
				"invalid_produced_file verification.produced_files[1].disposition"}},
		{"produced twice",
			verification(`"status":"fail","produced_files":[{"path":"o"},{"path":" o "},{"path":"./o"}]`),
			[]string{"duplicate_produced_file verification.produced_files[1].path",
				"duplicate_produced_file verification.produced_files[2].path"}},
		{"ignored and declared",
			verification(`"status":"fail","produced_files":[{"path":"./src//a.go","disposition":"ignore"}]`),
			[]string{"ignored_file_declared verification.produced_files[0].disposition"}},
	})
	evidence(`{"command":"c","exit_code":1.0,"expected_exit_code":1}`).passes(t)
	verification(`"status":"fail","machine_evidence":[{"command":"c","exit_code":2,"expected_exit_code":1}]`).passes(t)
	verification(`"status":"pass","commands":"x","machine_evidence":null,"produced_files":{}`).passes(t)
}

func TestStageProtocol(t *testing.T) {
	patch := func(p string) resultCase { return resultCase{patch: p} }
	last := func(p string) resultCase { return resultCase{phase: "qa", patch: p} }
	delegate := func(p string, roles ...string) resultCase {
		list := make([]string, len(roles))
		for i, r := range roles {
			list[i] = fmt.Sprintf(`{"id":"del-%03d","to_role":%q,"charter":"c","acceptance_contract":["a"]}`, i+1, r)
		}
		return patch(`{"delegations":[` + strings.Join(list, ",") + `]` + p + `}`)
	}
	during := func(c resultCase, tweak func(*run.Turn)) resultCase {
		c.tweak = func(in *Input) { tweak(in.Turn) }
		return c
	}
	missing := func(turn *run.Turn) {
		turn.DelegationReview, _ = ojson.DecodeObject(
			[]byte(`{"results":[{"delegation_id":"del-001","missing_decision_ids":["DEC-1","DEC-2"]},{"delegation_id":"del-002","missing_decision_ids":[]}]}`))
	}
	runRefusals(t, StageProtocol, []refusalCase{
		{"challenge", resultCase{
			role:  "qa",
			patch: `{"objections":[]}`,
		}, []string{"challenge_requirement_violated objections"}},
		{"next role", patch(`{"status":"blocked","proposed_next_role":"pm"}`),
			[]string{"next_role_not_allowed proposed_next_role"}},
		{"undefined phase", patch(`{"phase_transition_request":"nowhere"}`),
			[]string{"undefined_phase phase_transition_request"}},
		{"blank phase", patch(`{"phase_transition_request":" "}`),
			[]string{"undefined_phase phase_transition_request"}},
		{"backward", patch(`{"phase_transition_request":"planning"}`),
			[]string{"phase_order phase_transition_request"}},
		{"own phase", patch(`{"phase_transition_request":"implementation"}`),
			[]string{"phase_order phase_transition_request"}},
		{"final phase", last(`{"phase_transition_request":"planning"}`),
			[]string{"phase_order phase_transition_request"}},
		{"unknown current phase", resultCase{
			phase: "ghost",
			patch: `{"phase_transition_request":"planning"}`,
		}, []string{"phase_order phase_transition_request"}},
		{"review skips a phase", resultCase{
			role:  "qa",
			phase: "planning",
			patch: `{"phase_transition_request":"qa","proposed_next_role":"dev"}`,
		}, []string{"phase_order phase_transition_request"}},
		{"a reviewer with a blocking objection goes back", resultCase{
			role:  "qa",
			phase: "qa",
			patch: `{"phase_transition_request":"implementation","objections":[{"id":"OBJ-1","severity":"blocking","statement":"s"}]}`,
		}, []string{"phase_order phase_transition_request"}},
		{"both requests", patch(`{"phase_transition_request":"qa","run_completion_request":true}`),
			[]string{"mutually_exclusive_requests run_completion_request"}},
		{"both requests, undefined phase",
			last(`{"phase_transition_request":"nowhere","run_completion_request":true,"files_changed":[]}`), []string{
				"undefined_phase phase_transition_request", "mutually_exclusive_requests run_completion_request",
			}},
		{"six delegations", delegate("", "qa", "qa", "qa", "qa", "qa", "qa"),
			[]string{"too_many_delegations delegations"}},
		{"delegate and complete", delegate(`,"run_completion_request":true`, "qa"),
			[]string{"delegation_with_completion delegations"}},
		{"to itself", delegate("", "dev"), []string{"self_delegation delegations[0].to_role"}},
		{"to nobody", delegate("", "nobody"), []string{"undefined_delegate_role delegations[0].to_role"}},
		{"off the route", delegate("", "pm"), []string{"delegate_role_not_allowed delegations[0].to_role"}},
		{"id twice",
			patch(`{"delegations":[{"id":"del-001","to_role":"qa","charter":"c","acceptance_contract":["a"]},{"id":"del-001","to_role":"qa","charter":"c","acceptance_contract":["a"]}]}`), []string{"duplicate_delegation_id delegations[1].id"}},
		{"from a delegate", during(delegate("", "qa"), func(turn *run.Turn) {
			turn.DelegationContext = &ojson.Object{}
		}), []string{"recursive_delegation delegations"}},
		{"from a review", during(delegate("", "qa"), func(turn *run.Turn) { turn.DelegationReview = &ojson.Object{} }),
			[]string{"recursive_delegation delegations"}},
		{"review incomplete, transition", during(patch(`{"phase_transition_request":"qa"}`), missing),
			[]string{"delegation_review_incomplete phase_transition_request"}},
		{"review incomplete, completion", during(last(`{"run_completion_request":true}`), missing),
			[]string{"delegation_review_incomplete run_completion_request"}},
	})
	for _, c := range []resultCase{
		{role: "qa", patch: `{"objections":[]}`, tweak: func(in *Input) { in.Config.Rules.ChallengeRequired = false }},
		delegate("", "qa", "qa", "qa", "qa", "qa"),
		during(resultCase{}, missing),
		patch(`{"phase_transition_request":"qa","status":"blocked"}`),
		{phase: "ghost", patch: `{"proposed_next_role":"whoever"}`},
		{
			patch: `{"phase_transition_request":"anything","proposed_next_role":"pm"}`,
			tweak: func(in *Input) { in.Config.Routing = ojson.Map[*config.Route]{} },
		},
	} {
		c.passes(t)
	}
}
