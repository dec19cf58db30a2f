// The examples in the protocol's own documentation (seed monarchic-agent-protocol, docs/monarchic.md#types).

package check

import "testing"

func TestDocumentedExamples(t *testing.T) {
	for want, docs := range map[Type][]string{
		"task": {`{"version":"v1","task_id":"task-123","role":"dev","goal":"Implement protocol types","inputs":{"issue":"https://example.com/issues/42"},
			"constraints":{"no_network":true},"gates_required":["qa","security"],"run_context":{"version":"v1","repo":"monarchic-agent-protocol",
			"worktree":"/worktrees/task-123","image":"ghcr.io/monarchic/runner:stable","runner":"vm-runner-01","labels":["linux","rust"]}}`,
			`{"version":"v1","task_id":"task-123","role":"dev","goal":"Implement protocol"}`},
		"run_context": {`{"version":"v1","repo":"monarchic-agent-protocol","worktree":"/worktrees/task-123","image":"ghcr.io/monarchic/runner:stable",
			"runner":"vm-runner-01","labels":["linux","rust"]}`},
		"artifact": {`{"version":"v1","artifact_id":"artifact-987","type":"patch","summary":"Adds v1 protocol schemas","path":"artifacts/task-123/patch.diff","task_id":"task-123"}`},
		"event":    {`{"version":"v1","event_type":"task_started","timestamp":"2025-01-14T15:04:05Z","task_id":"task-123","status":"running","message":"Runner started VM"}`},
		"gate_result": {`{"version":"v1","gate":"security","status":"pass","reason":"No high or critical findings",
			"evidence":{"scanner":"trivy","report_path":"artifacts/task-123/security.json"}}`},
		"agent_role": {`{"role":"reviewer"}`},
		"client_boundary/intent": {`{"intent_id":"int-7","submitted_at":1760000000000,"submitter":"ana","policy_version":"p1","target_repo":"acme/app",
			"target_ref":"refs/heads/main","goal":"Add login","intent_class":"execute","constraints":{},"context_digest":"sha256:c1"}`},
		"client_boundary/plan": {`{"plan_id":"plan-7","intent_id":"int-7","plan_version":"v1","planner_version":"x-1","created_at":1760000001000,
			"steps":[{"step_id":"s1","task_id":"t1","kind":"review","description":"Check scope","dependencies":[],"inputs":{},
			"expected_outputs":[{"kind":"custom","logical_name":"notes"}],"policy_tags":[]}],"replan_policy":{"strategy":"retry","max_attempts":1},"input_digest":"sha256:i1"}`},
		"client_boundary/blocked_outcome": {`{"code":"gate-open","scope":"plan","message":"Sign-off missing.","details":{"gate":"g1"},"blocking_artifacts":[]}`},
		"durable_authority/fencing_token": {
			`{"token":"f-r1-s1-0002","issued_at_ms":1760000000000,"issuer":"orch","scope":"run:r1/step:s1"}`,
		},
		"durable_authority/recovery_event": {`{"event_id":"rec-9","run_id":"r1","plan_id":"p1","step_id":"s1","kind":"step_requeued","occurred_at_ms":1760000005000,
			"actor":"orch","details":{"attempt":2},"contract_version":"v1","run_state":"executing","step_state":"ready"}`},
	} {
		for _, doc := range docs {
			r := New(Options{}).Input("-", []byte(doc))
			if !r.Valid() || len(r.Findings) > 0 || r.Types[0].Type != want {
				t.Errorf("%s: %s %v %v", want, r.Unreadable, r.Types, r.Findings)
			}
		}
	}
}
