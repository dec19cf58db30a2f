// Every example of the published protocol and of docs/monarchic.md, read and written back.

package monarchic_test

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

const sampleTask = `{
  "version": "v1",
  "task_id": "task-123",
  "role": "dev",
  "goal": "Implement protocol types",
  "inputs": {
    "issue": "https://example.com/issues/42"
  },
  "constraints": {
    "no_network": true
  },
  "gates_required": [
    "qa",
    "security"
  ],
  "run_context": {
    "version": "v1",
    "repo": "monarchic-agent-protocol",
    "worktree": "/worktrees/task-123",
    "image": "ghcr.io/monarchic/runner:stable",
    "runner": "vm-runner-01",
    "labels": [
      "linux",
      "rust"
    ]
  }
}
`

// samples are in canonical form: reading and writing one must not change a byte.
func samples() map[monarchic.Type][]string {
	return map[monarchic.Type][]string{
		"task":              {sampleTask, `{"version":"v1","task_id":"task-1","role":"dev","goal":"Do it"}`},
		"agent_role":        {`"reviewer"`},
		"run_context":       {`{"version":"v1","repo":"monarchic-agent-protocol","worktree":"/worktrees/task-123","image":"ghcr.io/monarchic/runner:stable","runner":"vm-runner-01","labels":["linux","rust"]}`},
		"artifact":          {`{"version":"v1","artifact_id":"artifact-987","type":"patch","summary":"Adds v1 protocol schemas","path":"artifacts/task-123/patch.diff","task_id":"task-123"}`},
		"event":             {`{"version":"v1","event_type":"task_started","timestamp":"2025-01-14T15:04:05Z","task_id":"task-123","status":"running","message":"Runner started VM"}`},
		"gate_result":       {`{"version":"v1","gate":"security","status":"pass","reason":"No high or critical findings","evidence":{"scanner":"trivy","report_path":"artifacts/task-123/security.json"}}`},
		"objective_spec":    {`{"metric_key":"loss","direction":"minimize","target":0.1}`},
		"plan":              {`{"contract_version":"v1","plan_id":"plan-1","run_id":"run-1","objective":"Ship","status":"executing","created_at_ms":1760000000000,"updated_at_ms":1760000001000,"provenance":{"generated_by":"planner","generated_at_ms":1760000000000},"steps":[{"step_id":"s1","description":"Build","depends_on":[],"task_template":{"role":"dev"}}]}`},
		"execution_receipt": {`{"contract_version":"v1","run_id":"run-1","plan_id":"plan-1","plan_hash":"sha256:p","task_hashes":["sha256:t"],"artifact_hashes":["sha256:a"],"outcome_hash":"sha256:o","status":"complete","generated_at_ms":1760000002000}`},
		"task_message":      {`{"version":"v1","message_id":"m1","run_id":"run-1","from_task_id":"t1","to_task_id":"t2","kind":"handoff","created_at":"2025-01-14T15:04:05Z","requires_ack":true}`},
		"task_message_ack":  {`{"version":"v1","message_id":"m1","run_id":"run-1","task_id":"t2","acked_at":"2025-01-14T15:05:05Z","status":"received"}`},
		"pipeline_spec": {
			`{"pipeline_id":"p","tasks":[{"id":"a","task":"Do a"},{"id":"b","task":{"text":"Do b"},"depends_on":["a",{"task_id":"c","kind":"handoff"}]},{"id":"c","task":"Do c"}]}`,
			`{"version":"v1","pipeline_id":"p","objective":"o","project_key":"k","tasks":[{"id":"a","role":"dev","goal":"g","required_skills":["go",{"id":"sql","required":true}]}]}`,
		},
		"role_definition": {`{"role_id":"dev","display_name":"Developer","role":"dev","capabilities":["write:authoritative"],"required_skills":[]}`},
		"resolved_role_bundle": {
			`{"role":{"role_id":"dev"},"resolved_skills":[],"template_path":"PROMPT.md","task_id":"t1"}`,
		},
		"delivery_contract": {`{"objective":"Ship","definition_of_done":["All gates pass"],"required_checks":["none"],"risk_tier":"medium"}`},

		"failure_class":   {`{"category":"timeout","code":"stale_turn","retryable":true,"detail":"d","scope":"task","source":"t1","next_action":"step"}`},
		"failure_detail":  {`{"class":"agent","code":"stale_turn","message":"m","details":{"turn":"t1"}}`},
		"plan_status":     {`"bounded"`, `"unspecified"`},
		"role_provenance": {`{"role_name":"dev","template_hash":"sha256:t","render_hash":"sha256:r"}`},
		"plan_provenance": {`{"generated_by":"planner","policy_profile":"p","generated_at_ms":1,"role":{"role_name":"dev","template_hash":"t","render_hash":"r"}}`},
		"plan_step":       {`{"step_id":"s","description":"d","task_template":{},"failure":{"class":"infra","code":"c","message":"m"}}`},
		"dataset_ref": {`{"dataset_id":"d","sha256":"` + strings.Repeat("a",
			64) + `","format":"csv","split":"train","size_bytes":12}`},
		"experiment_spec": {`{"experiment_id":"e","objective":"o","seeds":[1,-2],"dataset_refs":[],"acceptance":{"metric":"loss","direction":"minimize","threshold":0.1}}`},
		"eval_result":     {`{"metric":"loss","value":0.25,"seed":-1,"passed":true}`},
		"provenance": {`{"prompt_sha256":"` + strings.Repeat("b", 64) + `","code_sha256":"` + strings.Repeat("c",
			64) + `","runtime":"local_cli","runner":"r","orchestrator":"o","created_at":"2026-01-01T00:00:00Z"}`},
		"run_outcome":     {`{"version":"v1","task_id":"t","objective_decision":"accept","estimated_cost_usd":1.5,"final_decision":"escalate"}`},
		"pipeline_task":   {`{"id":"a","role":"dev","goal":"g"}`},
		"task_dependency": {`{"task_id":"a","required":false}`},
		"skill_ref":       {`{"id":"go","required":true,"purpose":"to build"}`},

		"client_boundary/intent": {`{"intent_id":"int-7","submitted_at":1760000000000,"submitter":"ana","policy_version":"p1","target_repo":"acme/app","target_ref":"refs/heads/main","goal":"Add login","intent_class":"execute","constraints":{},"context_digest":"sha256:c1"}`},
		"client_boundary/plan": {`{"plan_id":"plan-7","intent_id":"int-7","plan_version":"v1","planner_version":"x-1","created_at":1760000001000,"steps":[` +
			sampleStep + `],"replan_policy":{"strategy":"retry","max_attempts":1},"input_digest":"sha256:i1"}`},
		"client_boundary/plan_step":           {sampleStep},
		"client_boundary/artifact_descriptor": {sampleDescriptor},
		"client_boundary/digest_manifest": {`{"contract_version":"v1","manifest_id":"man-1","run_id":"r1","plan_id":"p1","created_at":1,"combined_digest":"sha256:c","event_digest":"sha256:e","artifact_descriptors":[` +
			sampleDescriptor + `]}`},
		"client_boundary/execution_receipt": {`{"receipt_id":"rc","plan_id":"p1","step_id":"s1","task_id":"t1","runner_id":"rn","contract_version":"v1","status":"completed","started_at":1,"finished_at":2,"artifact_descriptors":[` +
			sampleDescriptor + `],"event_digest":"sha256:e","output_digest":"sha256:o"}`},
		"client_boundary/verification_receipt":   {`{"contract_version":"v1","verification_id":"v","plan_id":"p1","execution_receipt_ids":["rc"],"verification_policy_version":"p","status":"passed","checks":[{"check_id":"c","name":"unit","status":"passed","message":"ok","artifact_ids":[]}],"blocked_outcomes":[],"artifact_digest_set":["sha256:a"],"verified_at":3}`},
		"client_boundary/blocked_outcome":        {sampleBlocked},
		"client_boundary/review_decision":        {`{"decision_id":"d","plan_id":"p1","scope":"step","actor":"ana","decision":"request_changes","reason":"typo","created_at":4}`},
		"client_boundary/rerun_scope":            {`{"scope_id":"sc","plan_id":"p1","trigger":"manual","reason":"again","source_decision_id":"d","task_ids":["t1"],"step_ids":[],"paths":[],"created_at":5}`},
		"client_boundary/rerun_execution_result": {`{"result_id":"rr","plan_id":"p1","rerun_scope_id":"sc","trigger":"manual","matched_strategy":"task_ids","root_tasks":["t1"],"selected_tasks":["t1"],"matched_paths":[],"reason":"again","status":"succeeded","completed_tasks":["t1"],"failed_tasks":[],"skipped_tasks":[],"created_at":6,"updated_at":7}`},
		"client_boundary/pr_lifecycle_state": {`{"state_id":"st","plan_id":"p1","pr_number":7,"merge_ready":false,"release_ready":false,"blocked_outcomes":[` +
			sampleBlocked + `],"updated_at":8}`},
		"client_boundary/run_event_record": {`{"contract_version":"v1","event_id":"e","run_id":"r1","plan_id":"p1","sequence":1,"stream":"execution","recorded_at":9,"step_id":null,"task_id":"t1","event_type":"task.progress","status":"running","message":null,"artifact_ids":[]}`},
		"client_boundary/task":             {`{"version":"v1","task_id":"t1","role":"dev","goal":"g","gates_required":[],"run_context":{"repo":"acme/app","labels":[]},"interaction_mode":"batch","interactive":false,"required_mcps":[{"id":"m"}],"extensions":{"interactive":false}}`},
		"client_boundary/task_message":     {`{"version":"v1","message_id":"m1","run_id":"r1","from_task_id":"t1","to_task_id":"t2","kind":"clarification_request","subject":"Which port?","artifact_refs":[],"created_at":"2026-01-01T00:00:00Z","requires_ack":true}`},
		"client_boundary/campaign_pipeline_spec": {`{"pipeline_id":"p","version":"1","continue_on_error":false,"gate_policy":{"require_standard":true,"required_gates":[{"name":"qa","command":["make","test"]}]},"connections":[{"from_task_id":"a","to_task_id":"b","kind":"handoff","required":true}],"tasks":[` +
			sampleCampaignTask + `]}`},
		"durable_authority/fencing_token": {
			`{"token":"f-r1-s1-0002","issued_at_ms":1760000000000,"issuer":"orch","scope":"run:r1/step:s1"}`,
		},
		"durable_authority/lease":                  {`{"lease_id":"l","run_id":"r1","plan_id":"p1","step_id":"s1","task_id":"t1","runner_id":"rn","session_id":"ss","fencing_token":{"token":"f","issued_at_ms":1,"issuer":"orch","scope":"run:r1/step:s1"},"issued_at_ms":1,"expires_at_ms":2,"status":"active"}`},
		"durable_authority/run_lifecycle_state":    {`"cancelling"`},
		"durable_authority/step_lifecycle_state":   {`"leased"`},
		"durable_authority/lease_rejection_reason": {`"stale_fencing_token"`, `"lease_superseded"`},
		"durable_authority/recovery_event": {
			`{"event_id":"rec-9","run_id":"r1","plan_id":"p1","step_id":"s1","kind":"step_requeued","occurred_at_ms":1760000005000,"actor":"orch","details":{"attempt":2},"contract_version":"v1","run_state":"executing","step_state":"ready"}`,
			`{"event_id":"rec-10","run_id":"r1","plan_id":"p1","step_id":"s1","kind":"lease_rejected","occurred_at_ms":1760000005000,"actor":"orch","details":{},"contract_version":"v1","lease_rejection_reason":"lease_expired"}`,
		},
		"service_boundary/principal_ref": {samplePrincipal},
		"service_boundary/tenant_ref":    {`{"tenant_id":"acme"}`},
		"service_boundary/auth_context": {`{"contract_version":"v1","auth_context_id":"au","principal":` +
			samplePrincipal +
			`,"tenant":{"tenant_id":"acme"},"mechanism":"mutual_tls","credential_id":"c","scopes":[],"issued_at":5,"expires_at":5}`},
		"service_boundary/usage_record": {`{"contract_version":"v1","usage_id":"u","principal":` +
			samplePrincipal +
			`,"tenant":{"tenant_id":"acme"},"run_id":"r1","category":"execution","metric_name":"tokens","quantity":9,"unit":"tokens","recorded_at":1}`},
		"service_boundary/audit_export_manifest": {`{"contract_version":"v1","export_id":"x","principal":` +
			samplePrincipal +
			`,"tenant":{"tenant_id":"acme"},"run_id":"r1","plan_id":"p1","exported_at":1,"combined_digest":"sha256:c","artifact_descriptors":[` +
			sampleDescriptor + `]}`},
		"durable_authority/manual_override_record": {`{"contract_version":"v1","override_id":"o","run_id":"r1","plan_id":"p1","action":"approve_publication","actor":"ana","reason":"urgent","affected_artifact_ids":[],"created_at_ms":1,"expires_at_ms":2}`},
	}
}

const (
	sampleStep         = `{"step_id":"s1","task_id":"t1","kind":"review","description":"Check scope","dependencies":[],"inputs":{},"expected_outputs":[{"kind":"custom","logical_name":"notes"}],"policy_tags":[]}`
	sampleDescriptor   = `{"artifact_id":"a1","kind":"patch","digest":"sha256:d","media_type":"text/x-diff","logical_name":"main.go","producer":"rn","contract_version":"v1"}`
	samplePrincipal    = `{"principal_id":"p-1","provider":"orch","display_name":"Ana"}`
	sampleBlocked      = `{"code":"gate-open","scope":"plan","message":"Sign-off missing.","details":{"gate":"g1"},"blocking_artifacts":[]}`
	sampleCampaignTask = `{"task_id":"a","task_artifact":"tasks/a.json","depends_on":[],"runner_args":[],"requires_human_review":false,"filesystem_policy":{"read":["**"]},"required_skills":[{"id":"go","required":true}],"required_mcp_ids":[]}`
)

func parse(t *testing.T, text string) ojson.Value {
	t.Helper()
	v, err := wire.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

func TestSamplesRoundTrip(t *testing.T) {
	t.Parallel()
	for name, texts := range samples() {
		for _, text := range texts {
			v := parse(t, text)
			got, err := monarchic.Decode(name, v)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
				continue
			}
			if canonical := string(wire.Canonical(got)); canonical != string(ojson.Pretty(v)) {
				t.Errorf("%s changed\nwas %s\nis  %s", name, ojson.Pretty(v), canonical)
			}
		}
	}
	for _, name := range monarchic.Types() {
		if len(samples()[name]) == 0 {
			t.Errorf("%s has no sample", name)
		}
	}
}
