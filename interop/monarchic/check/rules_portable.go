// The rules of the portable types that no schema can express.

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// rules applies the rules of one type to an object of that type, anywhere in a document.
func (j *judge) rules(t Type, o *ojson.Object, at string) {
	switch t {
	case "task":
		j.roleGiven(o, at)
	case "run_outcome":
		for _, name := range []string{"task_id", "final_decision"} {
			if !o.Has(name) {
				j.warn(ojson.Member(at, name), "outcome.incomplete", fmt.Sprintf("an outcome without %s says little", name))
			}
		}
	case "plan":
		j.steps(o, at, "depends_on")
	case "plan_step":
		j.distinct(o.Array("depends_on"), ojson.Member(at, "depends_on"), "plan.duplicate_dependency",
			"the dependency %s is there twice")
	case "execution_receipt":
		j.receiptFailure(o, at)
	case "task_message":
		j.portableMessage(o, at)
	case "task_message_ack":
		if s, ok := textOf(o, "status"); ok && !blank(s) && ackStage(s) == 0 {
			j.warn(ojson.Member(at, "status"), "ack.unknown_status",
				fmt.Sprintf("%s is not one of received, accepted, rejected, resolved", ojson.Shown(s)))
		}
	case "pipeline_spec":
		j.pipeline(o, at)
	case "pipeline_task", "role_definition":
		j.skills(o.Array("required_skills"), ojson.Member(at, "required_skills"))
	case "resolved_role_bundle":
		j.bundle(o, at)
	default:
		j.strictRules(t, o, at)
	}
}

// textOf returns a member that is present and a string.
func textOf(o *ojson.Object, name string) (string, bool) {
	s, ok := o.Value(name).(string)
	return s, ok
}

// roleGiven: an unspecified role needs a role_id (docs/monarchic.md).
func (j *judge) roleGiven(o *ojson.Object, at string) {
	role, _ := o.Get("role")
	if role != "AGENT_ROLE_UNSPECIFIED" && role != ojson.Number("0") {
		return
	}
	if id, _ := textOf(o, "role_id"); blank(id) {
		j.fail(ojson.Member(at, "role"), "role.unspecified", "an unspecified role needs a role_id")
	}
}

// receiptFailure: upstream's runs follow it although its schema does not require it
// (docs/monarchic.md#types).
func (j *judge) receiptFailure(o *ojson.Object, at string) {
	failure := o.Object("failure")
	switch status := o.String("status"); {
	case status == "failed" && failure == nil:
		j.warn(ojson.Member(at, "failure"), "receipt.failure", "a failed receipt says why in failure")
	case status == "complete" && failure != nil:
		j.warn(ojson.Member(at, "failure"), "receipt.failure", "a complete receipt has no failure")
	}
}

// portableMessage: kind is any word in the portable family, but required.
func (j *judge) portableMessage(o *ojson.Object, at string) {
	kind, _ := o.Get("kind")
	switch kind {
	case "unspecified", "TASK_MESSAGE_KIND_UNSPECIFIED", ojson.Number("0"):
		j.fail(ojson.Member(at, "kind"), "message.kind", "task_message kind must not be unspecified")
		return
	}
	if repliesWrongly(o) {
		j.warn(ojson.Member(at, "reply_to"), "message.reply_kind",
			"in the strict family only a clarification_response has a reply_to")
	}
	s, ok := kind.(string)
	if !ok || blank(s) {
		return
	}
	known := []string{"artifact_ready", "clarification_request", "clarification_response", "handoff", "blocker"}
	if token := strings.ToLower(strings.TrimPrefix(s, "TASK_MESSAGE_KIND_")); !slices.Contains(known, token) {
		j.warn(ojson.Member(at, "kind"), "message.unknown_kind",
			fmt.Sprintf("%s is not one of %s", ojson.Shown(s), strings.Join(known, ", ")))
	}
}

// skills: ids are not blank and not duplicated in one list (docs/monarchic.md#types).
func (j *judge) skills(list []any, at string) {
	seen := map[string]bool{}
	for i, v := range list {
		id, where := "", ojson.Item(at, i)
		switch v := v.(type) {
		case string:
			id = v
		case *ojson.Object:
			s, ok := textOf(v, "id")
			if !ok {
				continue
			}
			id, where = s, ojson.Member(where, "id")
		default:
			continue
		}
		trimmed := strings.TrimSpace(id)
		switch {
		case trimmed == "":
			j.fail(where, "pipeline.blank_skill", "the id of a skill must not be blank")
		case seen[trimmed]:
			j.fail(where, "pipeline.duplicate_skill", fmt.Sprintf("the skill %s is there twice", ojson.Shown(trimmed)))
		}
		seen[trimmed] = true
	}
}

// bundle: the skills that a role requires are among the resolved ones.
func (j *judge) bundle(o *ojson.Object, at string) {
	j.skills(o.Array("resolved_skills"), ojson.Member(at, "resolved_skills"))
	resolved := map[string]bool{}
	for _, v := range o.Array("resolved_skills") {
		switch v := v.(type) {
		case string:
			resolved[strings.TrimSpace(v)] = true
		case *ojson.Object:
			resolved[strings.TrimSpace(v.String("id"))] = true
		}
	}
	for i, v := range o.Object("role").Array("required_skills") {
		if s, ok := v.(*ojson.Object); ok && s.Bool("required") && !resolved[strings.TrimSpace(s.String("id"))] {
			j.fail(ojson.Item(ojson.Member(ojson.Member(at, "role"), "required_skills"), i), "bundle.unresolved_skill",
				fmt.Sprintf("the required skill %s is not among the resolved ones", ojson.Shown(s.String("id"))))
		}
	}
}

// distinct reports duplicate strings in a list.
func (j *judge) distinct(list []any, at, rule, message string) {
	seen := map[string]bool{}
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			continue
		}
		if seen[s] {
			j.fail(ojson.Item(at, i), rule, fmt.Sprintf(message, ojson.Shown(s)))
		}
		seen[s] = true
	}
}
