// The list of rules, against which documentation and tests are checked.

package check

// Rule is one rule that a finding can name.
type Rule struct {
	ID   string
	Says string // what it requires
}

// Rules returns every rule, in the order of the documentation.
func Rules() []Rule {
	return []Rule{
		{"json.syntax", "each line of JSONL is one JSON document"},
		{"json.duplicate_member", "an object names each member once"},
		{"number.range", "a number fits into a double"},
		{"text.surrogate", "text contains no lone surrogate"},
		{"type.none", "the document has one of the types"},
		{"type.ambiguous", "the document fits one type only"},
		{"type.other", "a document that is invalid as the type asked for is not valid as another (warning)"},
		{"alias.conflict", "two spellings of one member have the same value"},
		{"required", "every required member is present"},
		{"additionalProperties", "a strict type contains only members of its schema"},
		{"type", "a value has the JSON type of its member"},
		{"enum", "a value is one of the closed list, case included"},
		{"const", "a fixed value is not another one"},
		{"unsupported_version", "`version` and `contract_version` are `v1`"},
		{"minimum", "a number is not below its minimum"},
		{"maximum", "a number is not above its maximum"},
		{"minLength", "required text is not empty"},
		{"minItems", "a list that needs entries is not empty"},
		{"pattern", "a SHA-256 digest of provenance or data has 64 hexadecimal digits"},
		{"format", "a time follows RFC 3339"},
		{"anyOf", "one of several members is present: an objective has `target` or `min_delta`"},
		{"schema", "the document meets everything else in its schema"},
		{"integer.spelling", "a strict type writes integers as integers, not as `1.0` or `1e3`"},
		{"text.blank", "required text is more than white space"},
		{"id.unsafe", "an id has 1 to 200 bytes, is not `.` or `..`, and " +
			"contains no slash, backslash, control character or surrounding white space"},
		{"hash.blank", "a digest is not blank"},
		{"role.unspecified", "a Task with an unspecified role has a `role_id`"},
		{"role.unknown", "a pipeline's role is a role of the protocol, or `role_id` names it (warning)"},
		{"outcome.incomplete", "an outcome names its task and its final decision (warning)"},
		{"receipt.failure", "a failed receipt has a failure, and a complete one has none (warning)"},
		{"plan.duplicate_step", "each step of a plan has an id of its own"},
		{"plan.duplicate_dependency", "a step names each dependency once"},
		{"plan.unknown_dependency", "a step depends only on steps of its plan"},
		{"plan.cycle", "steps do not depend on each other in a cycle; the message names the cycle"},
		{"pipeline.role_aware", "a pipeline with `objective`, `project_key`, or a task's `role`, `goal` or " +
			"`required_skills` also has `version`, `objective` and `project_key`, and each task has a `role` and a `goal`"},
		{"pipeline.task_body", "each task of an older pipeline has a `task`"},
		{"pipeline.empty", "a pipeline contains tasks (warning)"},
		{"pipeline.duplicate_task", "each task of a pipeline has an id of its own"},
		{"pipeline.duplicate_dependency", "a task names each dependency of a kind once"},
		{"pipeline.unknown_dependency", "a task depends only on tasks of its pipeline"},
		{"pipeline.cycle", "tasks do not depend on each other in a cycle, `message_route` aside; " +
			"the message names the cycle"},
		{"pipeline.blank_skill", "the id of a skill is not blank"},
		{"pipeline.duplicate_skill", "a list names each skill once"},
		{"bundle.unresolved_skill", "every skill that a role requires is resolved"},
		{"message.kind", "the kind of a message is not `unspecified`"},
		{"message.unknown_kind", "the kind of a message is a known one (warning)"},
		{"message.reply_kind", "only a response replies (portable: warning)"},
		{"ack.unknown_status", "an acknowledgement has one of the four statuses (warning)"},
		{"strict.blank", "a member that strict parsers require is not blank"},
		{"strict.empty", "a list that strict parsers require is not empty"},
		{"strict.unspecified", "a value is not `unspecified` where strict parsers refuse that"},
		{"task.compatibility", "a member that `extensions` repeats has the same value there"},
		{"verification.passed", "a passed receipt has no blocked outcome"},
		{"verification.blocked", "a blocked receipt has a blocked outcome"},
		{"verification.failed", "a failed receipt has a failed or blocked check, or a blocked outcome"},
		{"verification.duplicate_receipt", "a receipt is verified once"},
		{"lease.times", "a lease does not end before it was issued"},
		{"recovery.member", "an event has the members that its kind needs"},
		{"override.times", "an override ends after it was made"},
		{"auth.times", "an authority does not end before it begins"},
		{"usage.quantity", "a quantity is greater than 0"},
		{"publication.reason", "a blocked or failed publication gives a reason"},
		{"publication.pull_request", "an applied pull request is named"},
		{"moderation.block", "a decision to block says what it blocks"},
		{"moderation.allow", "a decision to allow blocks nothing"},
		{"queue.mismatch", "a job and its dispatch name the same tenant, project, run and queue"},
		{"log.duplicate_message", "each message of a run has an id of its own"},
		{"log.reply", "`reply_to` names an earlier message of the run"},
		{"log.ack_message", "an acknowledgement names an existing message"},
		{"log.ack_run", "an acknowledgement belongs to the run of its message"},
		{"log.ack_recipient", "the receiver of a message acknowledges it"},
		{"log.ack_order", "acknowledgements go from `received` to `accepted` or `rejected` to `resolved`; " +
			"they may skip states"},
		{"log.ack_missing", "a message that requires an acknowledgement has one (warning while the run goes on)"},
		{"log.sequence", "the event log of a run counts upwards (warning)"},
		{"log.step", "a receipt, and a lease (warning), belongs to a step of its plan and to that step's task, " +
			"if the log contains the plan"},
		{"log.receipt", "a verification names receipts of its plan, if the log contains receipts"},
		{"log.lease_transition", "a lease goes from `issued` to `active` to an end"},
		{"log.lease_exclusive", "a step has one active lease"},
		{"log.fencing", "a new holder has another token of the same scope, issued later"},
	}
}
