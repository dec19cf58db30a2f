// The one switch from stable error codes to exit statuses, as data; "help exit-codes" and docs/errors.md are made from it.

package term

import "slices"

// Exit statuses (design of the command surface). They never change meaning.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitRefused     = 3
	exitConflict    = 4
	ExitBlocked     = 5
	exitNoProject   = 10
	exitLocked      = 11
	ExitIntegrity   = 12
	exitGit         = 128
	ExitInterrupted = 130
)

// exitRow is one exit status with the error codes that end in it.
type exitRow struct {
	Status  int
	Meaning string
	Codes   []ExitCode
}

// ExitCode is one stable error code and what it says.
type ExitCode struct {
	Code    string
	Meaning string
}

// ExitTable returns the whole mapping. A code that is not in it exits 1.
func ExitTable() []exitRow {
	return []exitRow{
		{ExitOK, "done", nil},
		{ExitFailed, "failed, or finished with findings", []ExitCode{
			{"failed", "something failed that has no code of its own"},
			{"findings", "the check ran to its end and found something wrong"},
			{"not_found", "the named run, turn, gate, operation or decision does not exist"},
			{"base_missing", "the commit a turn started from is not in this repository"},
			{"object_too_large", "a git object is larger than a record can be"},
			{"unsupported_repository_format", "the repository uses a format this version does not know"},
			{"working_files_behind", "the operation is recorded, but files under .agentxchain/ could not be brought up to date; the next command does it"},
			{"io_failed", "a file could not be read or written"},
			{"bundle_missing", "a turn has no bundle directory"},
			{"bundle_unreadable", "a bundle holds something that cannot be read or sealed"},
			{"bundle_too_large", "a bundle holds more files or bytes than can be sealed or kept"},
			{"githooks_missing", "no guards are installed in git's hooks, so there is nothing to try"},
			{"githooks_unreadable", "a hook, the record of their installation or git's configuration could not be read or written"},
			{"timeout", "a time limit passed"},
			{"pipeline_invalid", "a plan breaks the rules of its own protocol"},
			{"plan_unrepresentable", "a plan asks for something a governed run has nothing to carry it out with"},
			{"unsupported_version", "a document is of a version of its protocol that is not supported"},
			{"export_content", "a governed file cannot be exported: it is not what its name says, or cannot be read"},
			{"no_remote", "there is no remote of that name, or none at all, for runs to travel over"},
			{"remote_failed", "the remote could not be reached, or git refuses what it sends"},
			{"branch_diverged", "the branch that goes along with a run was not pushed: here and on the remote it went on separately"},
			{"port_busy", "another program listens on the port of the dashboard"},
			{"dashboard_running", "a dashboard of this project is running already"},
			{"internal", "a defect in git-agentxchain; AGENTXCHAIN_DEBUG=1 shows the stack"},
		}},
		{ExitUsage, "usage error or unreadable input", []ExitCode{
			{"usage", "unknown command or flag, wrong number of arguments, bad value"},
			{"prompt_unavailable", "a question has to be asked and there is no terminal"},
			{"directory_unusable", "the directory to work in does not exist or cannot be entered"},
			{"report_unwritten", "a verifier's report could not be written"},
			{"invalid_argument", "a value is outside what the operation takes"},
			{"invalid_json", "a document is not JSON, or breaks the size, depth or UTF-8 limits"},
			{"invalid_config", "agentxchain.json breaks a rule"},
			{"invalid_coordinator_config", "agentxchain-multi.json breaks a rule"},
			{"workstream_cycle", "workstreams of agentxchain-multi.json wait for each other in a circle"},
			{"repo_unresolved", "a repository of the initiative has no place that can be used"},
			{"unknown_repo", "no such repository in agentxchain-multi.json"},
			{"unknown_workstream", "no such workstream in agentxchain-multi.json"},
			{"invalid_state", "state.json or a ledger cannot be understood"},
			{"invalid_input", "an input file cannot be read or has the wrong shape"},
			{"unknown_range", "an end of the range names no commit of this clone"},
			{"unknown_subject", "what is to be attested is no recorded turn, run or range"},
			{"history_shallow", "the history of this clone ends within the range"},
			{"unreadable_input", "an input file cannot be read"},
			{"unreadable_file", "a governed file cannot be read"},
			{"artifact_unreadable", "an export artifact cannot be read or is not JSON"},
			{"bad_ref_name", "a run id cannot be part of a ref name"},
			{"unknown_role", "no such role in agentxchain.json"},
			{"unknown_runtime", "no such runtime in agentxchain.json"},
			{"unknown_template", "no such project template"},
			{"target_required", "several turns are active and none was named"},
			{"reason_required", "the operation needs --reason"},
			{"endpoint_unusable", "an endpoint that is to be judged does not answer, or does not let us in"},
			{"protocol_version_unsupported", "the peer speaks another major protocol version"},
		}},
		{ExitRefused, "refused by governance: validation, gate, policy or hook said no", []ExitCode{
			{"validation_failed", "the turn result fails a validation stage"},
			{"no_committed_project", "no commit holds agentxchain.json, so a run of its own has nothing to begin from"},
			{"runtime_not_automatic", "every role is bound to a manual runtime; nothing would carry a turn out"},
			{"secret_found", "files that would leave the machine hold what looks like a secret; the message names file, line and rule"},
			{"dispatch_rejected", "an agent came back with nothing that is a turn result; the turn was sent back"},
			{"override_validation_failed", "a decision override is not allowed"},
			{"empty_required_field", "a decision lacks a required text"},
			{"invalid_enum_value", "a value is not in its closed list"},
			{"invalid_decision_id_format", "a decision id is not DEC-<number>"},
			{"duplicate_decision_id", "a decision id is taken"},
			{"invalid_event", "an event breaks the format of the event log"},
			{"invalid_events", "the event log is not a list of events"},
			{"ordering_violation", "events are not in causal order"},
			{"verification_produced_files_cleanup", "files made by verification are still there"},
			{"artifact_dirty_tree_mismatch", "the work tree and the declared artifact disagree"},
			{"undeclared_verification_outputs", "verification wrote files that were not declared"},
			{"artifact_mismatch", "declared and observed changes disagree"},
			{"approver_is_author", "the configuration wants another person to decide than the one who made the change"},
			{"approver_not_allowed", "the configuration does not name this person among those who decide"},
			{"approvals_missing", "an act that overrules the record needs more people than have agreed to it"},
			{"already_approved", "this person has approved the gate already; each one counts once"},
			{"signature_required", "the configuration wants a signed statement"},
			{"signoff_by_agent", "a turn changed the sign-off line that only a person writes"},
			{"statement_expired", "a signed statement is used after its time"},
			{"statement_mismatch", "a signed statement is about other bytes than those decided on"},
			{"statement_replayed", "a signed statement was used before, or answers something else"},
			{"intent_coverage_incomplete", "a required intent item is not addressed"},
			{"gate_semantic_coverage", "a gate's document lacks required content"},
			{"empty_workspace_artifact", "a workspace artifact without any change"},
			{"verification_replay_drift", "replayed verification differs from the report"},
			{"write_authority", "the role may not write that path"},
			{"reserved_path_violation", "the turn touched a path owned by the run itself"},
			{"cross_repo_write_violation", "a turn changed files outside of its own repository"},
			{"not_assignable", "no workstream of the initiative can be worked on now, and the gate out of the phase is not ready"},
			{"repo_init_failed", "an initiative cannot start because of one of its repositories"},
			{"repo_not_in_workstream", "the repository does not work on that workstream"},
			{"projection_conflict", "the turn counts for another workstream already"},
			{"decision_undone", "a decision over several repositories was not made, because one of them could not move; none has"},
			{"record_missing", "no run is recorded in this clone, so that nothing accounts for its commits"},
			{"policy_violation", "a policy of agentxchain.json forbids it"},
			{"conflict", "another turn changed the same files"},
			{"hook_blocked", "a lifecycle hook said no; the run is as it was"},
			{"githooks_foreign", "something this program did not write is where a guard's hook would go, or a hook of its was changed; it is left as it is"},
			{"isolation_unavailable", "a runtime asks for an isolation that this machine cannot give its agent; nothing was started"},
			{"hooks_untrusted", "hooks would run, or runtimes be used, that this machine has not been told to trust"},
			{"hook_post_commit_error", "a hook failed after the acceptance was recorded"},
			{"protocol_error", "the turn result breaks a protocol rule"},
			{"gate_failed", "a gate's predicates are not met"},
			{"gate_actions_not_allowed", "this clone has not been allowed to run the gate's actions"},
			{"invalid_state_transition", "the run's status does not allow the operation"},
			{"immutable_field", "a field that cannot change would have changed"},
			{"role_not_routed", "the phase does not route to that role"},
			{"turn_already_assigned", "a turn is already active"},
			{"role_already_active", "the role already has an active turn"},
			{"charters_wait", "no charter of the phase can be given out now: others are at work or to be done first"},
			{"delegation_open", "delegated work has not come back or was not reviewed, so the gate cannot be passed"},
			{"invalid_charter", "a charter does not fit the run, its phases or the other charters"},
			{"at_capacity", "the phase runs as many turns as it may"},
			{"turn_not_active", "no such active turn"},
			{"staged_result_missing", "no turn result is staged"},
			{"stale_staging", "the staged result belongs to another turn or attempt"},
			{"budget_exhausted", "the run's budget is spent"},
			{"dirty_tree", "the work tree has changes that no turn accounts for"},
			{"checkpoint_required", "the accepted turn must be checkpointed first"},
			{"inside_dispatched_turn", "a person's decision was attempted from inside a dispatched turn"},
			{"turn_at_work", "the process of a turn is still running and has to end first"},
			{"nothing_pending", "nothing waits for approval"},
			{"nothing_to_retry", "no failed gate can be asked again"},
			{"nothing_to_withdraw", "there is no approval that can be taken back"},
			{"nothing_to_confirm", "nothing of the run waits for a person's confirmation"},
			{"nothing_to_reconcile", "no commit was made since the run's baseline"},
			{"history_rewrite", "the commit the run stands at is no ancestor of HEAD"},
			{"missing_baseline", "nothing says at which commit the run stood"},
			{"governance_state_modified", "a commit changes the record of runs"},
			{"protected_path_modified", "a commit changes a path that git_hooks.protected keeps"},
			{"critical_artifact_deleted", "a commit deletes evidence of the run"},
			{"not_overrulable", "what stops the run is no opinion of a policy or hook that a person could overrule"},
			{"proposal_conflict", "files of a proposal have changed since it was made"},
			{"proposal_decided", "the proposal was applied or rejected before"},
			{"run_exists", "a live run exists already"},
			{"mailbox_full", "the mailbox of the run takes no more messages for now"},
			{"statement_invalid", "a signed statement breaks the format of statements"},
			{"envelope_invalid", "the envelope of a signed statement cannot be read"},
			{"signature_format", "a signature is of no format or algorithm that counts"},
			{"signature_invalid", "a signature does not fit what it is said to sign"},
			{"signer_unknown", "the key of a signature belongs to no allowed signer"},
			{"signer_expired", "a signer's key, certificate or listing was not valid when the statement was issued"},
			{"signer_revoked", "the key of a signature is revoked"},
			{"signer_namespace", "the signer is listed for other uses of the key than git's"},
			{"signing_not_configured", "a signature is needed, and git is not set up to make one"},
			{"signing_failed", "the program that git signs with made no signature"},
			{"signers_invalid", "the list of revoked signers cannot be understood, so that no signature counts"},
			{"remote_refused", "the remote does not take the record of a run"},
			{"conflict_settled", "the conflict was settled before"},
			{"project_exists", "the directory already has a governed project"},
			{"file_exists", "a file would have been overwritten"},
			{"artifact_kind", "the artifact is not that of a run, which alone can be restored"},
			{"workspace_missing", "the artifact does not say which commit it was made at"},
			{"restore_unsupported", "the artifact says of itself that it cannot be restored, and why"},
			{"content_missing", "bytes of files were left out of the artifact"},
			{"nothing_to_restore", "the artifact holds no files"},
			{"project_mismatch", "the artifact or bundle belongs to another project"},
			{"head_mismatch", "the checkout is at another commit than the artifact"},
			{"turn_displaced", "a turn is at work in this checkout, and the artifact to restore does not know it"},
			{"baseline_contradicted", "what was committed since the export contradicts the artifact"},
			{"unsafe_target", "a link, or something that is no file, is where a file would be written, restored or kept in the git directory"},
			{"unfit_run", "the files to restore hold no run that can be recorded"},
			{"history_diverged", "a bundle tells another history of a run than the refs here"},
		}},
		{exitConflict, "conflict: the run moved under us; retrying is safe", []ExitCode{
			{"ref_moved", "another process moved the run's ref first"},
			{"state_moved", "the state changed between reading and writing"},
			{"remote_contended", "other machines pushed to the remote first, again and again; everything is kept here"},
			{"lock_lost", "the lock was taken over while we held it"},
			{"acceptance_drift", "what was validated is no longer what is there"},
			{"lease_refused", "a turn is under the lease of another runner, or the lease it was asked for under does not hold any more"},
			{"turn_claimed", "another clone has claimed the turn, or has had it since the result was made"},
			{"claim_ended", "the time of this clone's claim on the turn is up"},
			{"siblings_at_work", "a turn waits until those that work beside it have staged their results"},
			{"turn_already_accepted", "another process accepted the turn first"},
		}},
		{ExitBlocked, "blocked: a person is needed", []ExitCode{
			{"run_blocked", "the run is blocked"},
			{"awaiting_approval", "a gate waits for a person's approval"},
			{"human_required", "only a person may do this"},
			{"recovery_report_required", "the recovery report of a blocked initiative is not written"},
			{"repo_run_id_mismatch", "a repository is on another run than the initiative's"},
			{"decision_unsettled", "a decision over several repositories that was interrupted can be neither finished nor undone without a person"},
			{"hook_blocked_run", "a lifecycle hook said no and the run is blocked on it"},
			{"gate_action_failed", "an action attached to a gate failed and blocked the run"},
			{"confirmation_required", "another tool or a restore passed something that no person has confirmed; nothing is built on it"},
			{"policy_escalation", "a policy handed the decision to a person"},
		}},
		{exitNoProject, "not a governed repository", []ExitCode{
			{"not_a_project", "no agentxchain.json here or above"},
			{"not_a_git_repository", "no git repository here or above"},
			{"bare_repository", "the repository has no work tree"},
			{"no_run", "no run has been started"},
			{"nothing_to_export", "no agentxchain.json and no agentxchain-multi.json here or above"},
			{"config_missing", "no agentxchain-multi.json in the directory"},
			{"no_coordinator_run", "no initiative has been started in the workspace"},
		}},
		{exitLocked, "locked by a live process", []ExitCode{
			{"locked", "another process holds the lock; the message names it"},
			{"turn_busy", "another process is carrying out the turn"},
			{"ref_locked", "another git process holds the lock of the run's ref"},
			{"lock_timeout", "the lock was not released in time"},
		}},
		{ExitIntegrity, "integrity failure", []ExitCode{
			{"ledger_tampered", "a ledger was rewritten or truncated outside the tool"},
			{"acceptance_forged", "a repository's files claim an acceptance that its record does not bear out"},
			{"state_tampered", "the working state differs from the recorded one"},
			{"git_tampered", "git's configuration, hooks or refs were changed while an agent was at work; they were put back"},
			{"hook_bundle_tamper", "a hook changed the bundle, the configuration or another protected file; it was put back"},
			{"hook_ledger_tamper", "a hook changed the decision ledger; it was put back"},
			{"hook_history_tamper", "a hook changed the history; it was put back"},
			{"hook_state_tamper", "a hook changed the state; it was put back"},
			{"hook_guard_failed", "the files that hooks must not change could not be guarded or put back"},
			{"bundle_invalid", "a dispatch bundle is not what was sealed"},
			{"chain_broken", "the operation chain has a gap"},
			{"object_corrupt", "a git object does not match its id"},
			{"object_missing", "a git object of the run is missing"},
			{"object_invalid", "a git object of the run has the wrong shape"},
			{"ref_broken", "a run's ref does not hold an object id"},
			{"ref_is_symbolic", "a run's ref points at another ref"},
			{"record_invalid", "an operation's record cannot be read"},
			{"run_foreign", "a run elsewhere has the name of one here, or belongs to another project"},
			{"remote_rewound", "the remote no longer has operations it once showed"},
			{"remote_forked", "the remote has other operations in the place of those it once showed"},
			{"record_unproven", "a run's ref leads to an operation that does not follow from the one before it"},
			{"gate_unconfirmed", "a gate rests on a step that cannot be applied again and that no person has confirmed"},
			{"run_missing", "the project knows of a run that has no record in this clone"},
			{"replay_mismatch", "an operation applied again gives something else than was recorded"},
			{"binary_unlisted", "the checksum file of a release does not list this binary"},
			{"artifact_unverified", "a claim of an artifact that is to be restored does not hold"},
			{"unsafe_path", "an artifact names a file that may not be written"},
			{"history_invalid", "a bundle of a run's history is none, is not whole, or does not hold together"},
		}},
		{exitGit, "git itself failed under us", []ExitCode{
			{"git_failed", "a git command failed; its message follows"},
			{"git_missing", "git is not installed or not on PATH"},
			{"git_too_old", "this git is too old for what is needed"},
			{"git_output_too_large", "a git command answered with more than can be taken in"},
			{"dubious_ownership", "git refuses the repository because another user owns it"},
			{"git_dir_elsewhere", "the .git of a repository of the initiative leads to a repository that is not its own"},
		}},
		{ExitInterrupted, "interrupted", []ExitCode{
			{"interrupted", "a signal ended the command"},
		}},
	}
}

// ExitStatus returns the exit status of a stable error code.
func ExitStatus(code string) int {
	for _, row := range ExitTable() {
		if slices.ContainsFunc(row.Codes, func(c ExitCode) bool { return c.Code == code }) {
			return row.Status
		}
	}
	return ExitFailed
}
