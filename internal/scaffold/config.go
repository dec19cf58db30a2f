// agentxchain.json of a new project.

package scaffold

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// SchemaAddress is where editors find the schema of agentxchain.json (docs/schemas). It is that of
// the newest version: members keep their meaning, and the schema takes those that it does not know.
const SchemaAddress = "https://raw.githubusercontent.com/git-agentxchain/git-agentxchain/main/docs/schemas/agentxchain.json"

// config renders agentxchain.json (docs/spec/configuration.md#members): four roles, three
// phases with a gate each, a budget, and gates that wait for a person. Without an agent
// every runtime is manual, so a new project works without a key, a vendor or a program to
// install.
func config(t Template, p Params) []byte {
	obj := ojson.NewObject
	project := obj("id", p.ProjectID, "name", p.ProjectName)
	if g := strings.TrimSpace(p.Goal); g != "" {
		project.Set("goal", g)
	}
	project.Set("default_branch", p.DefaultBranch)

	role := func(id, title, authority, runtime string) *ojson.Object {
		if p.Agent != nil {
			// A program on this machine can write whatever its role may do, so a role that
			// only reviews cannot be bound to one (docs/runtimes.md).
			authority, runtime = "authoritative", p.Agent.ID
		}
		return obj("title", title, "mandate", t.mandate[id], "write_authority", authority, "runtime", runtime)
	}
	phase := func(entry, gate string, next ...string) *ojson.Object {
		return obj("entry_role", entry, "allowed_next_roles", next, "exit_gate", gate)
	}
	return ojson.Pretty(obj(
		"$schema", SchemaAddress,
		"schema_version", "1.0",
		"template", t.ID,
		"project", project,
		"roles", obj(
			"pm", role("pm", "Product Manager", "review_only", "manual-pm"),
			"dev", role("dev", "Developer", "authoritative", "manual-dev"),
			"qa", role("qa", "QA", "review_only", "manual-qa"),
			"eng_director", role("eng_director", "Engineering Director", "review_only", "manual-director"),
		),
		"runtimes", runtimes(p.Agent),
		// The order of these keys is the order of the phases.
		"routing", obj(
			"planning", phase("pm", "planning_signoff", "pm", "eng_director", "human"),
			"implementation", phase("dev", "implementation_complete", "dev", "qa", "eng_director", "human"),
			"qa", phase("qa", "qa_ship_verdict", "dev", "qa", "eng_director", "human"),
		),
		"gates", gates(),
		"approval_policy", approvalPolicy(),
		"authority", authority(p.Approver),
		"budget", obj("per_turn_max_usd", 2, "per_run_max_usd", 50, "on_exceed", "pause_and_escalate"),
		"retention", obj("talk_strategy", "append_only", "history_strategy", "jsonl_append_only"),
		"prompts", obj(
			"pm", ".agentxchain/prompts/pm.md",
			"dev", ".agentxchain/prompts/dev.md",
			"qa", ".agentxchain/prompts/qa.md",
			"eng_director", ".agentxchain/prompts/eng_director.md",
		),
		"rules", obj("challenge_required", true, "max_turn_retries", 2, "max_deadlock_cycles", 2, "result_repair", "strict"),
	))
}

// runtimes are one for each role that people play, or the agent.
func runtimes(agent *Agent) *ojson.Object {
	out := ojson.NewObject()
	if agent != nil {
		out.Set(agent.ID, agent.runtime())
		return out
	}
	for _, id := range []string{"manual-pm", "manual-dev", "manual-qa", "manual-director"} {
		out.Set(id, ojson.NewObject("type", "manual"))
	}
	return out
}

func gates() *ojson.Object {
	obj := ojson.NewObject
	return obj(
		"planning_signoff", obj(
			"requires_files", []string{".planning/PM_SIGNOFF.md", ".planning/ROADMAP.md", ".planning/SYSTEM_SPEC.md"},
			"requires_human_approval", true, "credentialed", false,
		),
		"implementation_complete", obj(
			"requires_files", []string{".planning/IMPLEMENTATION_NOTES.md"},
			"requires_verification_pass", true, "credentialed", false,
		),
		"qa_ship_verdict", obj(
			"requires_files", []string{".planning/acceptance-matrix.md", ".planning/ship-verdict.md", ".planning/RELEASE_NOTES.md"},
			"requires_human_approval", true, "requires_verification_pass", true, "credentialed", false,
		),
	)
}

// approvalPolicy leaves every gate that asks for a person to a person, and so does the
// end of the run.
func approvalPolicy() *ojson.Object {
	obj := ojson.NewObject
	return obj(
		"phase_transitions", obj("default", "require_human", "rules", []*ojson.Object{}),
		"run_completion", obj("action", "require_human"),
	)
}

// authority names the person who sets the project up as the one who approves
// (docs/spec/configuration.md#authority). Where git knows no address, any person may
// approve; sign-off documents are signed by a person either way.
func authority(approver string) *ojson.Object {
	obj := ojson.NewObject
	out := &ojson.Object{}
	if approver = strings.TrimSpace(approver); approver != "" {
		gate := func() *ojson.Object { return obj("by", "maintainers", "signed", false) }
		out.Set("approvers", obj("maintainers", obj("principals", []string{approver}, "threshold", 1)))
		out.Set("gates", obj("planning_signoff", gate(), "qa_ship_verdict", gate()))
	}
	out.Set("signoff_documents", "person")
	return out
}
