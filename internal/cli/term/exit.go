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

// ExitCode is one stable error code, what it says, and what to do about it. The last may
// name commands in backquotes.
type ExitCode struct {
	Code    string
	Meaning string
	Do      string
}

// ExitTable returns the whole mapping. A code that is not in it exits 1.
func ExitTable() []exitRow {
	return []exitRow{
		{ExitOK, "done", nil},
		{ExitFailed, "failed, or finished with findings", []ExitCode{
			{"failed", "something failed that has no code of its own", "read the message; `AGENTXCHAIN_DEBUG=1` shows more"},
			{"findings", "the check ran to its end and found something wrong", "correct what the output lists, then run the check again"},
			{"run_removed", "a person has given the operations of the run up", "`git agentxchain runs list` shows the runs there are"},
			{"not_found", "the named run, turn, gate, operation or decision does not exist", "`git agentxchain log`, `history` or `gate list` show the names there are"},
			{"base_missing", "the commit a turn started from is not in this repository", "fetch the commit (`git fetch --unshallow` in a shallow clone), then again"},
			{"object_too_large", "a git object is larger than a record can be", "keep the file out of the turn, or ignore it"},
			{"unsupported_repository_format", "the repository uses a format this version does not know", "use the newer version that wrote it: `git agentxchain version`"},
			{"working_files_behind", "the operation is recorded, but files under .agentxchain/ could not be brought up to date; the next command does it", "run any command again, such as `git agentxchain status`"},
			{"io_failed", "a file could not be read or written", "see to space and permissions of the named file, then again"},
			{"bundle_missing", "a turn has no bundle directory", "`git agentxchain reissue TURN` writes a fresh one"},
			{"bundle_unreadable", "a bundle holds something that cannot be read or sealed", "take the named file out of the bundle directory, or `git agentxchain reissue TURN`"},
			{"bundle_too_large", "a bundle holds more files or bytes than can be sealed or kept", "take files out of the bundle directory that the turn does not need"},
			{"githooks_missing", "no guards are installed in git's hooks, so there is nothing to try", "`git agentxchain hooks install`"},
			{"githooks_unreadable", "a hook, the record of their installation or git's configuration could not be read or written", "correct the named file, then `git agentxchain hooks install`"},
			{"timeout", "a time limit passed", "try again, or give more time with the flag or setting that the message names"},
			{"pipeline_invalid", "a plan breaks the rules of its own protocol", "correct the plan; `git agentxchain monarchic validate PLAN` lists all findings"},
			{"plan_unrepresentable", "a plan asks for something a governed run has nothing to carry it out with", "take out of the plan what the message names"},
			{"unsupported_version", "a document is of a version of its protocol that is not supported", "convert the document, or use the version of the program that reads it"},
			{"export_content", "a governed file cannot be exported: it is not what its name says, or cannot be read", "correct or remove the named file"},
			{"no_remote", "there is no remote of that name, or none at all, for runs to travel over", "`git remote add origin URL`, or name another remote"},
			{"remote_failed", "the remote could not be reached, or git refuses what it sends", "check address, network and login with `git fetch`, then `git agentxchain sync`"},
			{"branch_diverged", "the branch that goes along with a run was not pushed: here and on the remote it went on separately", "join the branches as git does (`git pull`), then `git agentxchain sync`"},
			{"port_busy", "another program listens on the port of the dashboard", "`git agentxchain dashboard --port N`, with another number"},
			{"dashboard_running", "a dashboard of this project is running already", "open the one that runs: `git agentxchain status` names it"},
			{"internal", "a defect in git-agentxchain; AGENTXCHAIN_DEBUG=1 shows the stack", "report it, with what `AGENTXCHAIN_DEBUG=1` shows"},
		}},
		{ExitUsage, "usage error or unreadable input", []ExitCode{
			{"usage", "unknown command or flag, wrong number of arguments, bad value", "`git agentxchain help COMMAND`"},
			{"prompt_unavailable", "a question has to be asked and there is no terminal", "run it at a terminal, or answer with the flag that the message names"},
			{"directory_unusable", "the directory to work in does not exist or cannot be entered", "name another directory with `-C`"},
			{"report_unwritten", "a verifier's report could not be written", "name a file that can be written"},
			{"invalid_argument", "a value is outside what the operation takes", "give a value that the message allows"},
			{"invalid_json", "a document is not JSON, or breaks the size, depth or UTF-8 limits", "correct the document at the named place"},
			{"invalid_config", "agentxchain.json breaks a rule", "correct agentxchain.json; `git agentxchain validate` lists all findings"},
			{"invalid_coordinator_config", "agentxchain-multi.json breaks a rule", "correct agentxchain-multi.json; `git agentxchain multi status` reads it again"},
			{"workstream_cycle", "workstreams of agentxchain-multi.json wait for each other in a circle", "take one of the named `depends_on` out of agentxchain-multi.json"},
			{"repo_unresolved", "a repository of the initiative has no place that can be used", "clone the repository to its place, or correct its `path` in agentxchain-multi.json"},
			{"unknown_repo", "no such repository in agentxchain-multi.json", "use a name that agentxchain-multi.json has"},
			{"unknown_workstream", "no such workstream in agentxchain-multi.json", "use a name that agentxchain-multi.json has"},
			{"invalid_state", "state.json or a ledger cannot be understood", "`git agentxchain repair`"},
			{"invalid_input", "an input file cannot be read or has the wrong shape", "correct the file; the message says where"},
			{"unknown_range", "an end of the range names no commit of this clone", "fetch the commits, or name others"},
			{"unknown_subject", "what is to be attested is no recorded turn, run or range", "`git agentxchain history` and `log` show what is recorded"},
			{"history_shallow", "the history of this clone ends within the range", "`git fetch --unshallow`, then again"},
			{"unreadable_input", "an input file cannot be read", "check the path and its permissions"},
			{"unreadable_file", "a governed file cannot be read", "check the file and its permissions"},
			{"artifact_unreadable", "an export artifact cannot be read or is not JSON", "fetch or export the artifact again"},
			{"bad_ref_name", "a run id cannot be part of a ref name", "use the run's id as `git agentxchain runs list` prints it"},
			{"unknown_role", "no such role in agentxchain.json", "use a role of agentxchain.json: `git agentxchain status` shows them"},
			{"unknown_runtime", "no such runtime in agentxchain.json", "use a runtime of agentxchain.json, or add it there"},
			{"unknown_template", "no such project template", "`git agentxchain help init` lists the templates"},
			{"target_required", "several turns are active and none was named", "name the turn: `git agentxchain status` lists the active ones"},
			{"reason_required", "the operation needs --reason", "say why with `--reason`"},
			{"endpoint_unusable", "an endpoint that is to be judged does not answer, or does not let us in", "check address and token of the service"},
			{"protocol_version_unsupported", "the peer speaks another major protocol version", "bring both sides to the same major version"},
		}},
		{ExitRefused, "refused by governance: validation, gate, policy or hook said no", []ExitCode{
			{"validation_failed", "the turn result fails a validation stage", "correct the named members (`git agentxchain turn edit`), then accept again"},
			{"no_committed_project", "no commit holds agentxchain.json, so a run of its own has nothing to begin from", "commit agentxchain.json"},
			{"runtime_not_automatic", "every role is bound to a manual runtime; nothing would carry a turn out", "bind a role to an agent in agentxchain.json, or do the turn yourself: `git agentxchain turn show`"},
			{"secret_found", "files that would leave the machine hold what looks like a secret; the message names file, line and rule", "take the secret out of the file; a false alarm is allowed as the message says"},
			{"dispatch_rejected", "an agent came back with nothing that is a turn result; the turn was sent back", "`git agentxchain turn log TURN` shows what the agent printed; the next attempt reads why"},
			{"override_validation_failed", "a decision override is not allowed", "correct the override in the result"},
			{"empty_required_field", "a decision lacks a required text", "fill in the named text of the decision"},
			{"invalid_enum_value", "a value is not in its closed list", "use a value of the list in the message"},
			{"invalid_decision_id_format", "a decision id is not DEC-<number>", "call it DEC- and a number"},
			{"duplicate_decision_id", "a decision id is taken", "use the next free number: `git agentxchain decisions`"},
			{"invalid_event", "an event breaks the format of the event log", "correct the event; its writer is at fault"},
			{"invalid_events", "the event log is not a list of events", "correct or remove the event log that was handed in"},
			{"ordering_violation", "events are not in causal order", "put the events into the order in which they happened"},
			{"verification_produced_files_cleanup", "files made by verification are still there", "declare or remove the files that the verification made"},
			{"artifact_dirty_tree_mismatch", "the work tree and the declared artifact disagree", "commit or undo what the artifact does not declare"},
			{"undeclared_verification_outputs", "verification wrote files that were not declared", "declare the files in `verification.produced_files`, or have the command not write them"},
			{"artifact_mismatch", "declared and observed changes disagree", "name the files in `files_changed`, or undo the changes"},
			{"approver_is_author", "the configuration wants another person to decide than the one who made the change", "have another person approve"},
			{"approver_not_allowed", "the configuration does not name this person among those who decide", "have a person approve whom the configuration names: `git agentxchain gate show`"},
			{"approvals_missing", "an act that overrules the record needs more people than have agreed to it", "have more people agree: `git agentxchain approvals` counts them"},
			{"already_approved", "this person has approved the gate already; each one counts once", "wait for the others; `git agentxchain approvals` counts them"},
			{"signature_required", "the configuration wants a signed statement", "`git agentxchain approve --sign`"},
			{"signoff_by_agent", "a turn changed the sign-off line that only a person writes", "put the line back as it was; a person signs with `git agentxchain approve`"},
			{"statement_expired", "a signed statement is used after its time", "ask for a fresh statement"},
			{"statement_mismatch", "a signed statement is about other bytes than those decided on", "look at the documents again and sign those"},
			{"statement_replayed", "a signed statement was used before, or answers something else", "sign a fresh statement"},
			{"intent_coverage_incomplete", "a required intent item is not addressed", "address every item of the intent in the result"},
			{"gate_semantic_coverage", "a gate's document lacks required content", "finish the document in the same turn, or withdraw the request to move on"},
			{"empty_workspace_artifact", "a workspace artifact without any change", "change something, or hand in a review instead"},
			{"verification_replay_drift", "replayed verification differs from the report", "report what the command really gives, or repair what makes it change"},
			{"write_authority", "the role may not write that path", "undo the change, or give the work to a role that may write there"},
			{"reserved_path_violation", "the turn touched a path owned by the run itself", "undo the change below .agentxchain/; the program alone writes there"},
			{"cross_repo_write_violation", "a turn changed files outside of its own repository", "undo the change outside of the repository"},
			{"not_assignable", "no workstream of the initiative can be worked on now, and the gate out of the phase is not ready", "`git agentxchain multi status` says what each workstream waits for"},
			{"repo_init_failed", "an initiative cannot start because of one of its repositories", "correct the named repository: `git agentxchain doctor` there, then again"},
			{"repo_not_in_workstream", "the repository does not work on that workstream", "name a repository of the workstream"},
			{"projection_conflict", "the turn counts for another workstream already", "leave it; the turn counts once"},
			{"decision_undone", "a decision over several repositories was not made, because one of them could not move; none has", "correct the named repository, then decide again"},
			{"record_missing", "no run is recorded in this clone, so that nothing accounts for its commits", "`git agentxchain sync` brings the record, where a remote has it"},
			{"policy_violation", "a policy of agentxchain.json forbids it", "do as the policy says, or change it in agentxchain.json and `git agentxchain config adopt`"},
			{"conflict", "another turn changed the same files", "`git agentxchain reject --reassign TURN`, or join the files by hand"},
			{"hook_blocked", "a lifecycle hook said no; the run is as it was", "do as the hook says; `git agentxchain hooks show` names it"},
			{"githooks_foreign", "something this program did not write is where a guard's hook would go, or a hook of its was changed; it is left as it is", "look at the named file; keep it as your hook, or remove it, then `git agentxchain hooks install`"},
			{"isolation_unavailable", "a runtime asks for an isolation that this machine cannot give its agent; nothing was started", "install what the message names, or take `isolation` out of the runtime: `git agentxchain doctor`"},
			{"hooks_untrusted", "hooks would run, or runtimes be used, that this machine has not been told to trust", "read `git agentxchain hooks show`, then `git agentxchain hooks trust`"},
			{"hook_post_commit_error", "a hook failed after the acceptance was recorded", "the turn is accepted; correct the hook"},
			{"protocol_error", "the turn result breaks a protocol rule", "correct the named members (`git agentxchain turn edit`), then accept again"},
			{"gate_failed", "a gate's predicates are not met", "`git agentxchain gate show` says what it lacks; correct it, then `git agentxchain gate retry`"},
			{"gate_actions_not_allowed", "this clone has not been allowed to run the gate's actions", "`git agentxchain gate show` shows the actions; allow them with `--allow-actions`"},
			{"invalid_state_transition", "the run's status does not allow the operation", "`git agentxchain status` says where the run is and what is next"},
			{"immutable_field", "a field that cannot change would have changed", "leave the field as it is"},
			{"role_not_routed", "the phase does not route to that role", "assign a role of the phase: `git agentxchain status`"},
			{"turn_already_assigned", "a turn is already active", "finish the active turn first: `git agentxchain status`"},
			{"role_already_active", "the role already has an active turn", "finish the role's active turn first: `git agentxchain status`"},
			{"charters_wait", "no charter of the phase can be given out now: others are at work or to be done first", "wait for the work under way, or finish it: `git agentxchain status`"},
			{"delegation_open", "delegated work has not come back or was not reviewed, so the gate cannot be passed", "finish or review the delegated work: `git agentxchain status`"},
			{"invalid_charter", "a charter does not fit the run, its phases or the other charters", "correct the charter; the message says what does not fit"},
			{"at_capacity", "the phase runs as many turns as it may", "finish a turn first, or raise `max_concurrent_turns` of the phase"},
			{"turn_not_active", "no such active turn", "`git agentxchain status` lists the active turns, `history` those that are over"},
			{"staged_result_missing", "no turn result is staged", "`git agentxchain turn edit` writes one from the template"},
			{"stale_staging", "the staged result belongs to another turn or attempt", "write the result of this attempt: `git agentxchain turn edit`"},
			{"budget_exhausted", "the run's budget is spent", "raise `budget.per_run_max_usd`, then `git agentxchain config adopt`"},
			{"dirty_tree", "the work tree has changes that no turn accounts for", "commit or stash the files that `git agentxchain status` names, then again"},
			{"checkpoint_required", "the accepted turn must be checkpointed first", "`git agentxchain checkpoint`"},
			{"inside_dispatched_turn", "a person's decision was attempted from inside a dispatched turn", "a person runs it in a terminal of their own"},
			{"turn_at_work", "the process of a turn is still running and has to end first", "wait for it, or end the named process"},
			{"nothing_pending", "nothing waits for approval", "`git agentxchain status` says what is next"},
			{"nothing_to_retry", "no failed gate can be asked again", "`git agentxchain gate list` shows where the gates stand"},
			{"nothing_to_withdraw", "there is no approval that can be taken back", "`git agentxchain approvals` shows what was said"},
			{"nothing_to_confirm", "nothing of the run waits for a person's confirmation", "nothing needs to be done"},
			{"nothing_to_reconcile", "no commit was made since the run's baseline", "nothing needs to be done"},
			{"history_rewrite", "the commit the run stands at is no ancestor of HEAD", "go back to a branch that has the commit, or `git agentxchain reconcile` says what can be taken"},
			{"missing_baseline", "nothing says at which commit the run stood", "`git agentxchain checkpoint`, then again"},
			{"governance_state_modified", "a commit changes the record of runs", "take the change to the record out of the commit"},
			{"protected_path_modified", "a commit changes a path that git_hooks.protected keeps", "take the path out of the commit, or have a person commit it"},
			{"critical_artifact_deleted", "a commit deletes evidence of the run", "bring the file back: `git checkout HEAD -- FILE`"},
			{"not_overrulable", "what stops the run is no opinion of a policy or hook that a person could overrule", "correct the cause that `git agentxchain status` names"},
			{"proposal_conflict", "files of a proposal have changed since it was made", "`git agentxchain proposal show TURN`; join the files by hand, or reject it"},
			{"proposal_decided", "the proposal was applied or rejected before", "`git agentxchain proposal list` shows those that wait"},
			{"run_exists", "a live run exists already", "finish it, or `git agentxchain abandon`"},
			{"mailbox_full", "the mailbox of the run takes no more messages for now", "have the agents read their messages, then again"},
			{"statement_invalid", "a signed statement breaks the format of statements", "have the statement made again by `git agentxchain approve --sign`"},
			{"envelope_invalid", "the envelope of a signed statement cannot be read", "have the statement made again by `git agentxchain approve --sign`"},
			{"signature_format", "a signature is of no format or algorithm that counts", "sign with ssh, OpenPGP or X.509 as git does"},
			{"signature_invalid", "a signature does not fit what it is said to sign", "sign again; the statement or its signature was changed"},
			{"signer_unknown", "the key of a signature belongs to no allowed signer", "have a person who may do so add the key to the list of allowed signers"},
			{"signer_expired", "a signer's key, certificate or listing was not valid when the statement was issued", "sign with a key that is valid now"},
			{"signer_revoked", "the key of a signature is revoked", "sign with another key"},
			{"signer_namespace", "the signer is listed for other uses of the key than git's", "list the key for git (namespace `git`)"},
			{"signing_not_configured", "a signature is needed, and git is not set up to make one", "set `user.signingKey` and `gpg.format`, as for signed commits"},
			{"signing_failed", "the program that git signs with made no signature", "make `git commit -S` work, then again"},
			{"signers_invalid", "the list of revoked signers cannot be understood, so that no signature counts", "correct the named list"},
			{"remote_refused", "the remote does not take the record of a run", "ask its administrator to allow pushes to refs/agentxchain/*"},
			{"run_not_ended", "only a run that is over can be archived", "finish the run, or `git agentxchain abandon`"},
			{"run_in_use", "a work tree is in the run that was to be archived", "leave the run in the named work tree first"},
			{"run_not_archived", "the run is not in the archive, or its operations are not here", "`git agentxchain runs list --all` shows where each run is"},
			{"run_not_elsewhere", "no remote is known to keep the run that was to be pruned, or the operation that was to be witnessed", "`git agentxchain sync` to a remote first"},
			{"conflict_settled", "the conflict was settled before", "`git agentxchain conflicts` lists those that are open"},
			{"project_exists", "the directory already has a governed project", "work in it: `git agentxchain status`"},
			{"file_exists", "a file would have been overwritten", "move the file away, or name another"},
			{"artifact_kind", "the artifact is not that of a run, which alone can be restored", "export the run itself: `git agentxchain export`"},
			{"workspace_missing", "the artifact does not say which commit it was made at", "export again with this program"},
			{"restore_unsupported", "the artifact says of itself that it cannot be restored, and why", "export again as the message says"},
			{"content_missing", "bytes of files were left out of the artifact", "export again with a higher limit, or bring the files yourself"},
			{"nothing_to_restore", "the artifact holds no files", "export again with the files"},
			{"project_mismatch", "the artifact or bundle belongs to another project", "restore it in a clone of its own project"},
			{"head_mismatch", "the checkout is at another commit than the artifact", "check the named commit out, or see `git agentxchain restore --plan`"},
			{"turn_displaced", "a turn is at work in this checkout, and the artifact to restore does not know it", "finish or give up the turn here first"},
			{"baseline_contradicted", "what was committed since the export contradicts the artifact", "export again; what is here is newer"},
			{"unsafe_target", "a link, or something that is no file, is where a file would be written, restored or kept in the git directory", "remove the link or the special file at the named path"},
			{"unfit_run", "the files to restore hold no run that can be recorded", "export the run again"},
			{"history_diverged", "a bundle tells another history of a run than the refs here", "`git agentxchain sync` joins what two machines did"},
		}},
		{exitConflict, "conflict: the run moved under us; retrying is safe", []ExitCode{
			{"ref_moved", "another process moved the run's ref first", "run the command again"},
			{"state_moved", "the state changed between reading and writing", "run the command again"},
			{"remote_contended", "other machines pushed to the remote first, again and again; everything is kept here", "`git agentxchain sync`, a little later"},
			{"lock_lost", "the lock was taken over while we held it", "run the command again"},
			{"acceptance_drift", "what was validated is no longer what is there", "accept again; the files changed while they were judged"},
			{"lease_refused", "a turn is under the lease of another runner, or the lease it was asked for under does not hold any more", "leave the turn to the runner that has it, or wait until its lease is over: `git agentxchain status`"},
			{"turn_claimed", "another clone has claimed the turn, or has had it since the result was made", "wait, or `git agentxchain claim TURN --steal --because TEXT`"},
			{"claim_ended", "the time of this clone's claim on the turn is up", "`git agentxchain claim TURN`, if it is still free"},
			{"siblings_at_work", "a turn waits until those that work beside it have staged their results", "wait until the others have staged their results"},
			{"turn_already_accepted", "another process accepted the turn first", "nothing needs to be done"},
		}},
		{ExitBlocked, "blocked: a person is needed", []ExitCode{
			{"run_blocked", "the run is blocked", "`git agentxchain status` names the reason and the way out"},
			{"awaiting_approval", "a gate waits for a person's approval", "`git agentxchain approve` shows what is to be decided, and asks"},
			{"human_required", "only a person may do this", "a person runs it in a terminal of their own"},
			{"recovery_report_required", "the recovery report of a blocked initiative is not written", "write the report that `git agentxchain multi status` names"},
			{"repo_run_id_mismatch", "a repository is on another run than the initiative's", "`git agentxchain multi status` says which run each repository is on"},
			{"decision_unsettled", "a decision over several repositories that was interrupted can be neither finished nor undone without a person", "`git agentxchain multi status` says what each repository has; finish it by hand"},
			{"hook_blocked_run", "a lifecycle hook said no and the run is blocked on it", "do as the hook says, then `git agentxchain unblock`"},
			{"gate_action_failed", "an action attached to a gate failed and blocked the run", "correct what the action does, then `git agentxchain gate retry`"},
			{"confirmation_required", "another tool or a restore passed something that no person has confirmed; nothing is built on it", "`git agentxchain confirm` shows it, and asks"},
			{"policy_escalation", "a policy handed the decision to a person", "decide: `git agentxchain status` names what a person can do"},
		}},
		{exitNoProject, "not a governed repository", []ExitCode{
			{"not_a_project", "no agentxchain.json here or above", "`git agentxchain init`, or change to the project"},
			{"not_a_git_repository", "no git repository here or above", "`git init`, or change to a repository"},
			{"bare_repository", "the repository has no work tree", "work in a clone that has a work tree"},
			{"no_run", "no run has been started", "`git agentxchain run`, or `git agentxchain sync` where a remote has one"},
			{"nothing_to_export", "no agentxchain.json and no agentxchain-multi.json here or above", "change to a project"},
			{"config_missing", "no agentxchain-multi.json in the directory", "change to the directory of agentxchain-multi.json"},
			{"no_coordinator_run", "no initiative has been started in the workspace", "`git agentxchain multi init`"},
		}},
		{exitLocked, "locked by a live process", []ExitCode{
			{"locked", "another process holds the lock; the message names it", "wait; `git agentxchain doctor` names the process"},
			{"turn_busy", "another process is carrying out the turn", "wait; `git agentxchain doctor` names the process"},
			{"ref_locked", "another git process holds the lock of the run's ref", "wait; a lock that a killed git left is named by `git agentxchain doctor`"},
			{"lock_timeout", "the lock was not released in time", "try again; `git agentxchain doctor` names the process"},
		}},
		{ExitIntegrity, "integrity failure", []ExitCode{
			{"ledger_tampered", "a ledger was rewritten or truncated outside the tool", "`git agentxchain repair` shows both sides, and asks"},
			{"acceptance_forged", "a repository's files claim an acceptance that its record does not bear out", "`git agentxchain repair` shows both sides, and asks"},
			{"state_tampered", "the working state differs from the recorded one", "`git agentxchain repair` shows both sides, and asks"},
			{"git_tampered", "git's configuration, hooks or refs were changed while an agent was at work; they were put back", "look at what the agent did: `git agentxchain turn log`; put it under an isolation"},
			{"hook_bundle_tamper", "a hook changed the bundle, the configuration or another protected file; it was put back", "correct the hook"},
			{"hook_ledger_tamper", "a hook changed the decision ledger; it was put back", "correct the hook"},
			{"hook_history_tamper", "a hook changed the history; it was put back", "correct the hook"},
			{"hook_state_tamper", "a hook changed the state; it was put back", "correct the hook"},
			{"hook_guard_failed", "the files that hooks must not change could not be guarded or put back", "see to space and permissions, then again"},
			{"bundle_invalid", "a dispatch bundle is not what was sealed", "`git agentxchain reissue TURN` seals a fresh one"},
			{"chain_broken", "the operation chain has a gap", "`git agentxchain fsck`; a clone that has the operations brings them back: `git agentxchain sync`"},
			{"object_corrupt", "a git object does not match its id", "`git fsck`; fetch the object from another clone"},
			{"object_missing", "a git object of the run is missing", "`git fsck`; fetch the object from another clone"},
			{"object_invalid", "a git object of the run has the wrong shape", "`git agentxchain fsck`; take the run from another clone"},
			{"ref_broken", "a run's ref does not hold an object id", "`git agentxchain fsck`; take the ref from another clone"},
			{"ref_is_symbolic", "a run's ref points at another ref", "make the ref a plain one, as `git agentxchain fsck` says"},
			{"record_invalid", "an operation's record cannot be read", "`git agentxchain fsck`; take the run from another clone"},
			{"run_foreign", "a run elsewhere has the name of one here, or belongs to another project", "leave it aside; use another remote, or ask who put it there"},
			{"remote_rewound", "the remote no longer has operations it once showed", "ask who set the remote back; `git agentxchain sync` follows only what goes on"},
			{"remote_forked", "the remote has other operations in the place of those it once showed", "ask who rewrote the remote; your operations are kept here"},
			{"record_unproven", "a run's ref leads to an operation that does not follow from the one before it", "`git agentxchain fsck --replay` says which operation; do not build on it"},
			{"gate_unconfirmed", "a gate rests on a step that cannot be applied again and that no person has confirmed", "`git agentxchain confirm` shows the step, and asks"},
			{"run_missing", "the project knows of a run that has no record in this clone", "`git agentxchain sync`, or restore the run from its artifact"},
			{"replay_mismatch", "an operation applied again gives something else than was recorded", "`git agentxchain fsck --replay` says which operation; do not build on it"},
			{"binary_unlisted", "the checksum file of a release does not list this binary", "download the release again, and do not use this file"},
			{"artifact_unverified", "a claim of an artifact that is to be restored does not hold", "export again; do not use this artifact"},
			{"unsafe_path", "an artifact names a file that may not be written", "do not use this artifact"},
			{"witness_lost", "a run does not hold an operation that an allowed signer saw it at", "look for that operation in other clones; do not build on this run"},
			{"export_differs", "an export shows a run as no operation of this clone recorded it", "compare with `git agentxchain verify export`; do not use this artifact"},
			{"history_invalid", "a bundle of a run's history is none, is not whole, or does not hold together", "make the bundle again: `git agentxchain export --bundle`"},
		}},
		{exitGit, "git itself failed under us", []ExitCode{
			{"git_failed", "a git command failed; its message follows", "do as git's message says; `git agentxchain doctor` checks the rest"},
			{"git_missing", "git is not installed or not on PATH", "install git"},
			{"git_too_old", "this git is too old for what is needed", "install a newer git: `git agentxchain doctor` says which"},
			{"git_output_too_large", "a git command answered with more than can be taken in", "ignore what is too large, or split it"},
			{"dubious_ownership", "git refuses the repository because another user owns it", "`git config --global --add safe.directory DIR`, if you trust its owner"},
			{"git_dir_elsewhere", "the .git of a repository of the initiative leads to a repository that is not its own", "clone the repository again at its place"},
		}},
		{ExitInterrupted, "interrupted", []ExitCode{
			{"interrupted", "a signal ended the command", "run the command again; what was recorded stays"},
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
