package check

import "strings"

// ruleCase is a log, and all findings in it: "line severity pointer rule".
type ruleCase struct {
	name     string
	typ      Type
	log      bool
	complete bool
	doc      string
	want     []string
}

func message(id, from, to, kind, more string) string {
	return `{"version":"v1","message_id":"` + id + `","run_id":"r","from_task_id":"` + from + `","to_task_id":"` + to +
		`","kind":"` + kind + `","created_at":"2026-03-04T05:06:07Z"` + more + "}\n"
}

func ack(id, run, task, status string) string {
	return `{"version":"v1","message_id":"` + id + `","run_id":"` + run + `","task_id":"` + task +
		`","acked_at":"2026-03-04T05:06:07Z","status":"` + status + "\"}\n"
}

func lease(id, runner, token, issued, status string) string {
	return `{"lease_id":"` + id + `","run_id":"r","plan_id":"p","step_id":"s","task_id":"t","runner_id":"` + runner +
		`","session_id":"` + runner + `","fencing_token":{"token":"` + token + `","issued_at_ms":` + issued +
		`,"issuer":"o","scope":"sc"},"issued_at_ms":1,"expires_at_ms":2,"status":"` + status + "\"}\n"
}

func event(sequence, typ string) string {
	return `{"event_id":"e` + sequence + `","run_id":"r","plan_id":"p","sequence":` + sequence +
		`,"stream":"execution","recorded_at":1,"event_type":"` + typ + `","status":"s"}` + "\n"
}

func receipt(id, plan, step, task string) string {
	return `{"receipt_id":"` + id + `","plan_id":"` + plan + `","step_id":"` + step + `","task_id":"` + task +
		`","runner_id":"r","contract_version":"v1","status":"completed","started_at":1,"finished_at":2,"artifact_descriptors":[],"event_digest":"d","output_digest":"d"}` +
		"\n"
}

func ruleCases() []ruleCase {
	request := message("m1", "a", "b", "clarification_request", `,"requires_ack":true`)
	return []ruleCase{
		{name: "a mailbox that is in order", log: true, complete: true, doc: request +
			ack("m1", "r", "b", "received") + ack("m1", "r", "b", "accepted") +
			message("m2", "b", "a", "clarification_response", `,"reply_to":"m1"`) + ack("m1", "r", "b", "resolved")},
		{name: "straight to the end", log: true, complete: true, doc: request + ack("m1", "r", "b", "resolved")},
		{name: "declined after all", log: true, doc: request + ack("m1", "r", "b", "accepted") + ack("m1", "r", "b",
			"rejected") + ack("m1", "r", "b", "resolved")},
		{
			name: "an id twice",
			log:  true,
			doc:  message("m1", "a", "b", "handoff", "") + message("m1", "a", "b", "handoff", ""),
			want: []string{"2 error /message_id log.duplicate_message"},
		},
		{name: "the id of another run", log: true, doc: message("m1", "a", "b",
			"handoff", "") + strings.Replace(message("m1", "a", "b", "handoff", ""), `"r"`, `"q"`, 1)},
		{
			name: "replies to nothing, to itself, to a later one", log: true,
			doc: message("m1", "a", "b", "clarification_response", `,"reply_to":"m2"`) + message("m2", "a", "b",
				"clarification_response", `,"reply_to":"m2"`) +
				message("m3", "a", "b", "clarification_response", `,"reply_to":"m9"`),
			want: []string{"1 error /reply_to log.reply", "2 error /reply_to log.reply",
				"3 error /reply_to log.reply"},
		},
		{
			name: "acknowledgements of nothing, of another run, by another", log: true,
			doc: request + ack("m9", "r", "b", "received") + ack("m1", "q", "b", "received") + ack("m1", "r", "a",
				"received") + ack("m1", "r", "b", "received"),
			want: []string{"2 error /message_id log.ack_message", "3 error /run_id log.ack_run",
				"4 error /task_id log.ack_recipient"},
		},
		{
			name: "backwards", log: true, doc: request + ack("m1", "r", "b", "resolved") + ack("m1", "r", "b",
				"received") + ack("m1", "r", "b", "resolved"),
			want: []string{"3 error /status log.ack_order", "4 error /status log.ack_order"},
		},
		{
			name: "a mind changed",
			log:  true,
			doc:  request + ack("m1", "r", "b", "rejected") + ack("m1", "r", "b", "accepted"),
			want: []string{"3 error /status log.ack_order"},
		},
		{
			name: "not acknowledged yet",
			log:  true,
			doc:  request,
			want: []string{"1 warning /requires_ack log.ack_missing"},
		},
		{
			name:     "not acknowledged at the end",
			log:      true,
			complete: true,
			doc:      request,
			want:     []string{"1 error /requires_ack log.ack_missing"},
		},
		{
			name: "an end the log tells of", log: true, doc: request + event("1", "run_completed"),
			want: []string{"1 error /requires_ack log.ack_missing"},
		},
		{
			name: "an end of another run",
			log:  true,
			doc:  request + strings.Replace(event("1", "run_completed"), `"r"`, `"q"`, 1),
			want: []string{"1 warning /requires_ack log.ack_missing"},
		},
		{name: "an order that is only asked of a log", doc: ack("m9", "r", "b", "received")},
		{
			name: "contradictions where no log was asked for",
			doc:  request + ack("m9", "r", "b", "received") + request,
			want: []string{"2 warning /message_id log.ack_message", "3 warning /message_id log.duplicate_message"},
		},
		{
			name: "words of one's own",
			doc:  message("m1", "a", "b", "lunch", "") + ack("m1", "r", "b", "maybe"),
			want: []string{"1 warning /kind message.unknown_kind", "2 warning /status ack.unknown_status"},
		},
		{
			name: "a request that replies", doc: message("m1", "a", "b", "clarification_request", `,"reply_to":"m0"`),
			want: []string{"1 warning /reply_to message.reply_kind"},
		},
		{
			name: "sequence",
			log:  true,
			doc:  event("2", "x") + event("2", "x") + event("1", "x") + event("3", "x"),
			want: []string{"2 warning /sequence log.sequence", "3 warning /sequence log.sequence"},
		},
		{
			name: "a takeover in order", log: true,
			doc: lease("l1", "x", "f1", "1", "issued") + lease("l1", "x", "f1", "1", "active") +
				lease("l1", "x", "f1", "1", "expired") + lease("l2", "y", "f2", "2", "issued") +
				lease("l2", "y", "f2", "2", "active") + lease("l2", "y", "f2", "2", "released"),
		},
		{name: "the end of a lease told after its successor", log: true, doc: lease("l1", "x", "f1", "1",
			"issued") + lease("l2", "y", "f2", "2", "issued") + lease("l1", "x", "f1", "1", "cancelled")},
		{
			name: "moves that are none", log: true, doc: lease("l1", "x", "f1", "1",
				"issued") + lease("l1", "x", "f1", "1", "released") + lease("l1", "x", "f1", "1", "active"),
			want: []string{"2 error /status log.lease_transition", "3 error /status log.lease_transition"},
		},
		{
			name: "two holders",
			log:  true,
			doc:  lease("l1", "x", "f1", "1", "active") + lease("l2", "y", "f2", "2", "active"),
			want: []string{"2 error /status log.lease_exclusive"},
		},
		{
			name: "the token of the one before",
			log:  true,
			doc:  lease("l1", "x", "f1", "1", "expired") + lease("l2", "y", "f1", "1", "issued"),
			want: []string{"2 error /fencing_token log.fencing"},
		},
		{
			name: "an older token",
			log:  true,
			doc:  lease("l1", "x", "f2", "5", "expired") + lease("l2", "y", "f1", "5", "issued"),
			want: []string{"2 error /fencing_token log.fencing"},
		},
		{
			name: "another scope", log: true, doc: lease("l1", "x", "f1", "1",
				"expired") + strings.Replace(lease("l2", "y", "f2", "2", "issued"), `"sc"`, `"sd"`, 1),
			want: []string{"2 error /fencing_token log.fencing"},
		},
		{
			name: "a plan and what was carried out of it", log: true,
			doc: receipt("e1", "p", "s", "t") + receipt("e2", "p", "x", "t") + receipt("e3", "p", "s", "x") +
				receipt("e4", "q", "x", "y") + lease("l1", "x", "f1", "1", "issued") +
				strings.Replace(lease("l2", "y", "f2", "2", "issued"), `"s"`, `"z"`, 1) +
				`{"plan_id":"p","intent_id":"i","plan_version":"v1","planner_version":"x","created_at":1,"steps":[{"step_id":"s","task_id":"t","kind":"custom","description":"d","dependencies":[],"inputs":{},"expected_outputs":[],"policy_tags":[]}],"replan_policy":{"strategy":"retry","max_attempts":1},"input_digest":"d"}` +
				"\n" +
				`{"verification_id":"v","plan_id":"p","execution_receipt_ids":["e1","e4","e9"],"verification_policy_version":"x","status":"passed","checks":[],"blocked_outcomes":[],"artifact_digest_set":[],"verified_at":1}`,
			want: []string{
				"2 error /step_id log.step", "3 error /task_id log.step", "6 warning /step_id log.step",
				"8 error /execution_receipt_ids log.receipt", "8 error /execution_receipt_ids log.receipt",
			},
		},
		{name: "a broken line", doc: "{}}\n", want: []string{"1 error  json.syntax"}},
		{
			name: "the other family",
			typ:  "durable_authority/run_lifecycle_state",
			doc:  `{"code":"c","category":"timeout","retryable":true}`,
			want: []string{"1 error  type", "1 warning  type.other"},
		},
		{
			name: "a role of one's own",
			typ:  "pipeline_spec",
			doc:  `{"version":"v1","pipeline_id":"p","objective":"o","project_key":"k","tasks":[{"id":"a","role":"smith","goal":"g"}]}`,
			want: []string{"1 warning /tasks/0/role role.unknown"},
		},
		{
			name: "no tasks",
			typ:  "pipeline_spec",
			doc:  `{"pipeline_id":"p","tasks":[]}`,
			want: []string{"1 warning /tasks pipeline.empty"},
		},
		{
			name: "talk both ways is no circle", typ: "pipeline_spec",
			doc: `{"pipeline_id":"p","tasks":[{"id":"a","task":"x","depends_on":[{"task_id":"b","kind":"message_route"}]},{"id":"b","task":"y","depends_on":["a"]}]}`,
		},
		{
			name: "an outcome of nothing",
			typ:  "run_outcome",
			doc:  `{"version":"v1"}`,
			want: []string{"1 warning /task_id outcome.incomplete", "1 warning /final_decision outcome.incomplete"},
		},
		{
			name: "failures of receipts", typ: "execution_receipt",
			doc: strings.Repeat(
				`{"contract_version":"v1","run_id":"r","plan_id":"p","plan_hash":"h","task_hashes":[],"artifact_hashes":[],"outcome_hash":"h","status":"failed","generated_at_ms":1}`+
					"\n",
				1) +
				`{"contract_version":"v1","run_id":"r","plan_id":"p","plan_hash":"h","task_hashes":[],"artifact_hashes":[],"outcome_hash":"h","status":"complete","generated_at_ms":1,"failure":{"class":"agent","code":"c","message":"m"}}`,
			want: []string{"1 warning /failure receipt.failure", "2 warning /failure receipt.failure"},
		},
		{
			name: "publications", typ: "client_boundary/publication_action",
			doc: strings.ReplaceAll(
				`{"action_id":"a","run_id":"r","plan_id":"p","kind":"open_pull_request","status":"failed","actor":"x","target":{"repo":"r","base_branch":"b"},"created_at":1}
{"action_id":"a","run_id":"r","plan_id":"p","kind":"open_pull_request","status":"applied","actor":"x","target":{"repo":"r","base_branch":"b"},"created_at":1,"pull_request":{}}`, "\t", ""),
			want: []string{"1 error /failure_reason publication.reason",
				"2 error /pull_request publication.pull_request"},
		},
		{
			name: "moderation", typ: "client_boundary/moderation_decision",
			doc: `{"decision_id":"d","run_id":"r","plan_id":"p","scope":"run","disposition":"block","actor":"x","reason":"y","created_at":1}
{"decision_id":"d","run_id":"r","plan_id":"p","scope":"run","disposition":"allow","actor":"x","reason":"y","created_at":1,"blocked_outcomes":[{"code":"c","scope":"run","message":"m","details":{},"blocking_artifacts":[]}]}`,
			want: []string{"1 error /blocked_outcomes moderation.block", "2 error /blocked_outcomes moderation.allow"},
		},
		{
			name: "authority", typ: "service_boundary/auth_context",
			doc: `{"auth_context_id":"a","principal":{"principal_id":"p","provider":"x"},"tenant":{"tenant_id":"t"},"mechanism":"unspecified","credential_id":" ","issued_at":2,"expires_at":1}`,
			want: []string{"1 error /credential_id strict.blank", "1 error /expires_at auth.times",
				"1 error /mechanism strict.unspecified"},
		},
		{
			name: "usage", typ: "service_boundary/usage_record",
			doc:  `{"usage_id":"u","principal":{"principal_id":"p","provider":"x"},"tenant":{"tenant_id":"t"},"category":"custom","metric_name":"m","quantity":0,"unit":"unspecified","recorded_at":1}`,
			want: []string{"1 error /quantity usage.quantity", "1 error /unit strict.unspecified"},
		},
		{
			name: "a job and its dispatch", typ: "service_boundary/control_plane_queue_job",
			doc: `{"contract_version":"v1","queue":"a","source":"api","submitted_at_ms":1,"run_record_path":"x","run_snapshot":{"runId":"q","project_key":7},"dispatch":{"tenant_id":"t","project_key":"k","run_id":"r","workflow":"bootstrap","queue":"b","run_status":"queued"}}`,
			want: []string{"1 error /contract_version unsupported_version", "1 error /queue queue.mismatch",
				"1 error /run_snapshot/project_key queue.mismatch", "1 error /run_snapshot/runId queue.mismatch"},
		},
		{
			name: "not the catalogue",
			typ:  "client_boundary/map_operation_bundle",
			doc:  `{"artifact":"other","version":"v","operations":{}}`,
			want: []string{"1 error /artifact const"},
		},
	}
}
