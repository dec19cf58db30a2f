// The rules of the strict types that no schema can express (docs/monarchic.md#types).

package check

import (
	"fmt"
	"math/big"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func (j *judge) strictRules(t Type, o *ojson.Object, at string) {
	switch t {
	case "client_boundary/plan":
		j.steps(o, at, "dependencies")
	case "client_boundary/plan_step":
		j.distinct(o.Array("dependencies"), ojson.Member(at, "dependencies"), "plan.duplicate_dependency",
			"the dependency %s is there twice")
	case "client_boundary/digest_manifest":
		j.notBlank(o, at, "digest manifest", "contract_version", "manifest_id", "run_id", "plan_id", "combined_digest",
			"event_digest")
		j.notEmpty(o, at, "artifact_descriptors", "digest manifest must include at least one artifact_descriptor")
	case "client_boundary/verification_receipt":
		j.verification(o, at)
	case "client_boundary/run_event_record":
		j.notBlank(o, at, "run event record", "contract_version", "event_id", "run_id", "plan_id", "event_type",
			"status")
	case "client_boundary/task":
		j.strictTask(o, at)
	case "client_boundary/task_message":
		j.strictMessage(o, at)
	case "client_boundary/campaign_pipeline_spec":
		j.campaign(o, at)
	case "client_boundary/bootstrap_planning_context":
		j.notBlank(o, at, "bootstrap planning context", "project_key", "target_repo", "campaign_goal",
			"priority_profile")
		j.specified(o, at, "bootstrap planning context", "planning_mode")
	case "client_boundary/publication_action":
		j.publication(o, at)
	case "client_boundary/moderation_decision":
		j.moderation(o, at)
	default:
		j.authorityRules(t, o, at)
	}
}

// notBlank reports string members that hold only white space.
func (j *judge) notBlank(o *ojson.Object, at, label string, names ...string) {
	for _, name := range names {
		if s, ok := textOf(o, name); ok && blank(s) {
			j.fail(ojson.Member(at, name), "strict.blank", fmt.Sprintf("%s %s must not be empty", label, name))
		}
	}
}

// specified reports enum members that say "unspecified".
func (j *judge) specified(o *ojson.Object, at, label string, names ...string) {
	for _, name := range names {
		if s, _ := textOf(o, name); s == "unspecified" {
			j.fail(ojson.Member(at, name), "strict.unspecified", fmt.Sprintf("%s %s must not be unspecified", label, name))
		}
	}
}

func (j *judge) notEmpty(o *ojson.Object, at, name, message string) {
	if list, ok := o.Get(name); ok {
		if a, isList := list.([]any); isList && len(a) == 0 {
			j.fail(ojson.Member(at, name), "strict.empty", message)
		}
	}
}

// version refuses any version but v1 where the strict parser only requires that there is one
// (docs/monarchic.md).
func (j *judge) version(o *ojson.Object, at string) {
	if s, ok := textOf(o, "version"); ok && !blank(s) && s != "v1" {
		j.fail(ojson.Member(at, "version"), "unsupported_version",
			fmt.Sprintf("version %s is not supported; \"v1\" is", ojson.Shown(s)))
	}
}

func (j *judge) verification(o *ojson.Object, at string) {
	j.notBlank(o, at, "verification receipt", "contract_version")
	j.distinct(o.Array("execution_receipt_ids"), ojson.Member(at, "execution_receipt_ids"),
		"verification.duplicate_receipt", "the receipt %s is there twice")
	for i, v := range o.Array("execution_receipt_ids") {
		if s, ok := v.(string); ok {
			j.safe(s, ojson.Item(ojson.Member(at, "execution_receipt_ids"), i))
		}
	}
	blocked := len(o.Array("blocked_outcomes")) > 0
	switch o.String("status") {
	case "passed":
		if blocked {
			j.fail(ojson.Member(at, "blocked_outcomes"), "verification.passed",
				"passed verification receipts must not include blocked_outcomes")
		}
	case "blocked":
		if !blocked {
			j.fail(ojson.Member(at, "blocked_outcomes"), "verification.blocked",
				"blocked verification receipts must include at least one blocked_outcome")
		}
	case "failed":
		for _, c := range o.Objects("checks") {
			blocked = blocked || c.String("status") == "failed" || c.String("status") == "blocked"
		}
		if !blocked {
			j.fail(ojson.Member(at, "checks"), "verification.failed",
				"failed verification receipts must include a failed or blocked check, or a blocked_outcome")
		}
	}
}

func (j *judge) strictTask(o *ojson.Object, at string) {
	j.notBlank(o, at, "task", "version", "task_id", "role", "goal")
	j.version(o, at)
	if s, ok := textOf(o, "role_id"); ok && blank(s) {
		j.fail(ojson.Member(at, "role_id"), "strict.blank", "task role_id must not be empty when present")
	}
	if repo, ok := textOf(o.Object("run_context"), "repo"); ok && blank(repo) {
		j.fail(ojson.Member(ojson.Member(at, "run_context"), "repo"), "strict.blank", "task run_context.repo must not be empty")
	}
	ext := o.Object("extensions")
	for _, name := range []string{"interaction_mode", "interactive", "required_mcps"} {
		own, here := o.Get(name)
		other, there := ext.Get(name)
		if list, isList := own.([]any); !here || !there || own == nil || isList && len(list) == 0 {
			continue
		}
		if !ojson.Equal(own, other) {
			j.fail(ojson.Member(at, name), "task.compatibility",
				fmt.Sprintf("task %s compatibility field must match extensions.%s when both are present", name, name))
		}
	}
}

func (j *judge) strictMessage(o *ojson.Object, at string) {
	j.notBlank(o, at, "task_message", "version", "message_id", "run_id", "from_task_id", "to_task_id", "created_at")
	j.version(o, at)
	if o.String("kind") == "unspecified" {
		j.fail(ojson.Member(at, "kind"), "message.kind", "task_message kind must not be unspecified")
	}
	if repliesWrongly(o) {
		j.fail(ojson.Member(at, "reply_to"), "message.reply_kind",
			"task_message reply_to is only allowed for clarification_response messages")
	}
}

// repliesWrongly: only a response answers a message.
func repliesWrongly(o *ojson.Object) bool {
	reply, _ := o.Get("reply_to")
	kind := o.String("kind")
	return reply != nil && (kind == "artifact_ready" || kind == "clarification_request")
}

func (j *judge) campaign(o *ojson.Object, at string) {
	const label = "campaign_pipeline_spec"
	j.notBlank(o, at, label, "pipeline_id", "version")
	j.notEmpty(o, at, "tasks", label+" must include at least one task")
	for i, t := range o.Objects("tasks") {
		j.notBlank(t, ojson.Item(ojson.Member(at, "tasks"), i), label, "task_id", "task_artifact")
	}
	for i, g := range o.Object("gate_policy").Objects("required_gates") {
		if s, ok := textOf(g, "name"); ok && blank(s) {
			j.fail(ojson.Member(ojson.Item(ojson.Member(ojson.Member(at, "gate_policy"), "required_gates"), i), "name"),
				"strict.blank", label+" gate name must not be empty")
		}
	}
}

func (j *judge) publication(o *ojson.Object, at string) {
	status, kind := o.String("status"), o.String("kind")
	if reason, _ := textOf(o, "failure_reason"); (status == "blocked" || status == "failed") && blank(reason) {
		j.fail(ojson.Member(at, "failure_reason"), "publication.reason",
			"a publication that is blocked or failed says why in failure_reason")
	}
	if status != "applied" {
		return
	}
	switch kind {
	case "open_pull_request", "update_pull_request", "merge_pull_request":
		pr := o.Object("pull_request")
		if !pr.Has("number") && !pr.Has("url") && !pr.Has("title") {
			j.fail(ojson.Member(at, "pull_request"), "publication.pull_request",
				"an applied pull request has a number, a url or a title")
		}
	}
}

func (j *judge) moderation(o *ojson.Object, at string) {
	n := len(o.Array("blocked_outcomes"))
	switch d := o.String("disposition"); {
	case d == "block" && n == 0:
		j.fail(ojson.Member(at, "blocked_outcomes"), "moderation.block", "a decision to block says what is blocked")
	case d == "allow" && n > 0:
		j.fail(ojson.Member(at, "blocked_outcomes"), "moderation.allow", "a decision to allow blocks nothing")
	}
}

// moment returns an integer member exactly.
func moment(o *ojson.Object, name string) *big.Int {
	n, ok := o.Value(name).(ojson.Number)
	if !ok {
		return nil
	}
	if len(n) > 25 {
		return nil
	}
	i, ok := new(big.Int).SetString(string(n), 10)
	if !ok {
		return nil
	}
	return i
}

// before reports whether one time of an object is before another; false when either is missing.
func before(o *ojson.Object, a, b string) bool {
	x, y := moment(o, a), moment(o, b)
	return x != nil && y != nil && x.Cmp(y) < 0
}
