// agentxchain.json of a new project.

package scaffold

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// SchemaAddress is where editors find the schema of agentxchain.json (docs/schemas). It is the newest version:
// members keep their meaning, and the schema accepts unknown ones.
const SchemaAddress = "https://raw.githubusercontent.com/git-agentxchain/git-agentxchain/main/docs/schemas/agentxchain.json"

// config renders agentxchain.json (docs/spec/configuration.md#members): roles, phases with a gate each, a budget,
// and gates that wait for a person. Without an agent every runtime is manual, so a new project works without a key,
// a vendor or a program to install.
func config(t Template, p Params) []byte {
	obj := ojson.NewObject
	project := obj("id", p.ProjectID, "name", p.ProjectName)
	if g := strings.TrimSpace(p.Goal); g != "" {
		project.Set("goal", g)
	}
	project.Set("default_branch", p.DefaultBranch)

	roles, prompts := obj(), obj()
	for _, r := range t.roles {
		if p.Agent != nil {
			// A program on this machine can write whatever its role may do, so a role that only reviews cannot be
			// bound to one (docs/runtimes.md).
			r.authority, r.runtime = "authoritative", p.Agent.ID
		}
		roles.Set(r.id, obj("title", r.title, "mandate", t.mandate[r.id], "write_authority", r.authority,
			"runtime", r.runtime))
		prompts.Set(r.id, ".agentxchain/prompts/"+r.id+".md")
	}
	return ojson.Pretty(obj(
		"$schema", SchemaAddress,
		"schema_version", "1.0",
		"template", t.ID,
		"project", project,
		"roles", roles,
		"runtimes", runtimes(t.roles, p.Agent),
		"routing", routing(t.phases),
		"workflow_kit", workflowKit(t.phases),
		"gates", gateRules(t.phases),
		"approval_policy", approvalPolicy(),
		"authority", authority(t.phases, p.Approver),
		"budget", obj("per_turn_max_usd", 2, "per_run_max_usd", 50, "on_exceed", "pause_and_escalate"),
		"retention", obj("talk_strategy", "append_only", "history_strategy", "jsonl_append_only"),
		"prompts", prompts,
		"rules", obj("challenge_required", true, "max_turn_retries", 2, "max_deadlock_cycles", 2,
			"result_repair", "strict"),
	))
}

// runtimes returns one runtime for each role that people play, or the agent.
func runtimes(roles []role, agent *Agent) *ojson.Object {
	out := ojson.NewObject()
	if agent != nil {
		out.Set(agent.ID, agent.Runtime())
		return out
	}
	for _, r := range roles {
		out.Set(r.runtime, ojson.NewObject("type", "manual"))
	}
	return out
}

// routing returns the phases in the order of the work: the order of its keys is significant.
func routing(phases []phase) *ojson.Object {
	out := ojson.NewObject()
	for _, p := range phases {
		out.Set(p.id, ojson.NewObject(
			"entry_role", p.entry, "allowed_next_roles", append(slices.Clone(p.next), "human"), "exit_gate", p.gate,
		))
	}
	return out
}

// workflowKit assigns the document by which a phase is judged to the phase's entry role: its gate stays shut until
// that role has had a turn in the phase, so that dev cannot skip qa by asking for the end itself.
func workflowKit(phases []phase) *ojson.Object {
	obj := ojson.NewObject
	out := obj()
	for _, p := range phases {
		out.Set(p.id, obj("template", p.kit, "artifacts", []*ojson.Object{obj("path", p.own, "owned_by", p.entry)}))
	}
	return obj("phases", out)
}

// gateRules returns the gate at the end of each phase.
func gateRules(phases []phase) *ojson.Object {
	out := ojson.NewObject()
	for _, p := range phases {
		g := ojson.NewObject("requires_files", append([]string{p.own}, p.files...))
		if p.person {
			g.Set("requires_human_approval", true)
		}
		if p.verified {
			g.Set("requires_verification_pass", true)
		}
		g.Set("credentialed", false)
		out.Set(p.gate, g)
	}
	return out
}

// approvalPolicy leaves to a person every gate that asks for one, and the end of the run.
func approvalPolicy() *ojson.Object {
	obj := ojson.NewObject
	return obj(
		"phase_transitions", obj("default", "require_human", "rules", []*ojson.Object{}),
		"run_completion", obj("action", "require_human"),
	)
}

// authority names the person who sets up the project as the approver (docs/spec/configuration.md#authority). If git
// knows no address, any person may approve; sign-off documents are signed by a person either way.
func authority(phases []phase, approver string) *ojson.Object {
	obj := ojson.NewObject
	out := &ojson.Object{}
	if approver = strings.TrimSpace(approver); approver != "" {
		gates := obj()
		for _, p := range phases {
			if p.person {
				gates.Set(p.gate, obj("by", "maintainers", "signed", false))
			}
		}
		out.Set("approvers", obj("maintainers", obj("principals", []string{approver}, "threshold", 1)))
		out.Set("gates", gates)
	}
	out.Set("signoff_documents", "person")
	return out
}
