// The field rules of PROMPT.md: what a valid result looks like, member by
// member (docs/bundles.md#what-is-in-it row 14, docs/spec/results.md#members).

package dispatch

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (v *view) fieldRules() string {
	var l list
	if v.Config.StrictResults() {
		l.add("This project takes a result at its word (`rules.result_repair` is `strict`): nothing missing or misspelt is filled in or corrected; the result is refused. `git agentxchain verify turn %s` says beforehand whether it is valid.", v.Turn.TurnID)
	}
	l.add("`schema_version`: the string `1.0`.")
	l.add("`run_id`, `turn_id`, `role`, `runtime_id`: exactly as in the template. Never take them from an older document.")
	l.add("`status`: `completed`, `blocked`, `needs_human` or `failed`, spelled so. With `needs_human`, say in `needs_human_reason` what a person has to do; the run stops until it is done.")
	l.add("`summary`: required, not blank.")
	l.add("`decisions`: required; `[]` when nothing was decided. `id` is `DEC-` and digits, each once in a run: number from %s on. `category` is `implementation`, `architecture`, `scope`, `process`, `quality` or `release`; `statement` and `rationale` are not blank.", code(v.freeDecision()))
	l.add("`decisions[].durability`: leave it out, or `repo` for a decision that outlives this run. `overrides` names the repo decision it replaces.")
	v.objectionRules(&l)
	l.add("`files_changed`: required list of strings, each a path from the project root with `/`, no `..`. Not objects, and not named anything else.")
	l.add("`artifacts_created`: optional list of strings: planning or review documents you made.")
	v.verificationRules(&l)
	v.artifactRules(&l)
	v.changeRules(&l)
	if roles := v.nextRoles(); len(roles) > 0 {
		text := "`proposed_next_role`: required; one of %s."
		if v.next != "" {
			text += " A new phase begins with its own entry role, whatever is proposed here."
		}
		l.add(text, inlineCodes(roles))
	} else {
		l.add("`proposed_next_role`: required; a role id, or `human`.")
	}
	v.delegationRules(&l)
	v.lifecycleRules(&l)
	l.add("`cost`: `null` when you do not know: what can be measured is filled in. Otherwise `input_tokens` and `output_tokens` as whole numbers and `usd` as a number, none negative.")
	return "### Field Rules\n\n" + l.String()
}

func (v *view) objectionRules(l *list) {
	need := "`[]` when you have none"
	if v.reviewer() && v.Config.Rules.ChallengeRequired {
		need = "at least one, as your role reviews"
	}
	l.add("`objections`: required; %s. `id` is `OBJ-` and digits, each once in a run: number from %s on; `severity` is `low`, `medium`, `high` or `blocking`; `statement` is not blank; `status` is `raised` for a new one. `against_turn_id` and `against_decision_id` are optional.",
		need, code(v.freeObjection()))
}

func (v *view) verificationRules(l *list) {
	l.add("`verification.status`: required; `pass`, `fail` or `skipped`. `pass` means that every command you list did what it should.")
	l.add("`verification.machine_evidence[]`: commands you ran, each with `command` and the `exit_code` you saw. A command meant to fail also carries `expected_exit_code`, equal to its exit code. Anything that is not a command belongs in `evidence_summary`.")
	l.add("`verification.produced_files[]`: files your commands left behind, each with `path` and `disposition`: `artifact` if it belongs to the work, `ignore` if it is a by-product. Do not list a file both there as `ignore` and in `files_changed`.")
}

func (v *view) artifactRules(l *list) {
	switch v.role.WriteAuthority {
	case wire.Authoritative:
		l.add("`artifact.type`: required; `workspace` or `commit` when you changed files, `review` with `files_changed` `[]` when you changed none.")
	case wire.Proposed:
		l.add("`artifact.type`: required; `patch`, or `review` when you propose nothing.")
	case wire.ReviewOnly:
		l.add("`artifact.type`: required; `review`.")
	default:
		l.add("`artifact.type`: required; `workspace`, `patch`, `commit` or `review`.")
	}
}

func (v *view) changeRules(l *list) {
	if v.role.WriteAuthority == wire.Proposed {
		l.add("`proposed_changes[]`: `path` from the project root, no `..`, none of the reserved files; `action` is `create`, `modify` or `delete`; `content` is required unless the file is deleted, and may be empty.")
	}
}

func (v *view) delegationRules(l *list) {
	if v.Turn.DelegationContext != nil {
		l.add("`delegations`: not in this turn, which fulfils a delegation itself. Decisions it requires: %s.",
			inlineCodes(v.Turn.DelegationContext.Strings("required_decision_ids")))
		return
	}
	if v.Turn.DelegationReview != nil {
		l.add("`delegations`: not in this turn, which reviews delegated work.")
		return
	}
	l.add("`delegations`: optional, at most 5, not together with `run_completion_request`. Each has `id` (`del-` and three digits), `to_role` (another role the phase routes to), `charter`, a non-empty `acceptance_contract`, and optionally `required_decision_ids`.")
}

// lifecycleRules explains when to ask for the next phase or for completion.
func (v *view) lifecycleRules(l *list) {
	phases := v.Config.Phases()
	if len(phases) == 0 {
		l.add("`phase_transition_request`, `run_completion_request`: leave both `null`; this project declares no phases.")
		return
	}
	l.add("`phase_transition_request`: `null`, or a phase name; valid phases are %s. A gate's name is not a phase name.",
		inlineCodes(phases))
	l.add("`run_completion_request`: `null`, or `true` in the final phase (%s) only.", code(v.Config.FinalPhase()))
	l.add("At most one of the two requests in one result.")

	var gate string
	switch {
	case v.gate == nil:
		gate = "There is no gate on the way."
	case v.waits() && v.approval() == "auto":
		gate = "The gate " + code(v.route.ExitGate) +
			" is then checked at once and, by the approval policy, passed without a person."
	case v.waits():
		gate = "The gate " + code(v.route.ExitGate) +
			" is then checked, and a person decides. Do not report `needs_human` for that approval: asking is enough."
	default:
		gate = "The gate " + code(v.route.ExitGate) + " is then checked at once."
	}
	when := "when the work of this phase is done and its gate can pass"
	if v.reviewer() {
		when = "when your review finds that the work of this phase is done and its gate can pass"
	}
	if v.Turn.CharterID() != "" {
		l.add("Ask for neither: the plan this turn's task belongs to moves the run on by itself.")
		return
	}
	switch {
	case v.route == nil:
		l.add("The run's phase %s is not routed, so ask for neither.", code(v.State.Phase))
	case v.final:
		l.add("This is the final phase: %s, set `run_completion_request` to `true`%s. %s", when, v.human(), gate)
	default:
		l.add("From here the only next phase is %s: %s, set `phase_transition_request` to `%s`. %s", code(v.next),
			when, strings.ReplaceAll(v.next, "`", ""), gate)
	}
	if v.reviewer() && v.route != nil {
		silent := "is read as asking to go on"
		if v.Config.StrictResults() || v.Turn.DelegationReview != nil || v.Turn.DelegationContext != nil {
			silent = "leaves the run in this phase"
		}
		l.add("A completed review with neither request %s. If the work is not ready, send it back: report `blocked`, or name the role that has to act in `proposed_next_role` and say why in an objection of severity `blocking`.", silent)
	}
}

func (v *view) human() string {
	if v.reviewer() {
		return " and `proposed_next_role` to `human`"
	}
	return ""
}
