// A scratch project whose turns a program carries out, for trying a service.

package demo

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Automatic makes a repository with a governed project in the empty directory
// dir. It has two phases and one role, which command carries out; no gate waits
// for a person.
func Automatic(ctx context.Context, dir string, command []string) error {
	repo, err := gitstore.Create(ctx, dir, "Demo Person", "person@example.org")
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()
	if _, err := runner.InitProject(ctx, dir, runner.ProjectOptions{
		ID:     "scratch",
		Name:   "Scratch",
		Config: ojson.Pretty(automaticConfig(command)),
	}); err != nil {
		return err
	}
	_, err = gitcommit.Paths(ctx, repo, []string{"."}, "governed project")
	return err
}

func automaticConfig(command []string) *ojson.Object {
	phase := func(gate string) *ojson.Object {
		return ojson.NewObject("entry_role", "dev", "allowed_next_roles", []string{"dev", "human"}, "exit_gate", gate)
	}
	return ojson.NewObject(
		"schema_version", "1.0",
		"protocol_mode", "governed",
		"template", "generic",
		"project", ojson.NewObject("id", "scratch", "name", "Scratch", "default_branch", "main"),
		"roles", ojson.NewObject("dev", ojson.NewObject("title", "Developer", "mandate", "Do what is asked.",
			"write_authority", "authoritative", "runtime", "program")),
		"runtimes", ojson.NewObject("program", ojson.NewObject("type", "local_cli", "command", command)),
		"routing", ojson.NewObject("build", phase("built"), "ship", phase("shipped")),
		"gates", ojson.NewObject("built", &ojson.Object{}, "shipped", &ojson.Object{}),
		"rules", ojson.NewObject("challenge_required", false, "max_turn_retries", 2),
	)
}

// Turn carries out one turn of such a project: it stages a result that changes nothing, and advances the run.
func Turn(ctx context.Context, r *runner.Runner, turnID string) error {
	doc, err := r.Template(ctx, turnID)
	if err != nil {
		return err
	}
	doc.Set("status", "completed")
	doc.Set("summary", "Nothing was to be changed, and nothing was.")
	for _, list := range []string{"decisions", "objections", "files_changed", "artifacts_created"} {
		doc.Set(list, []any{})
	}
	doc.Set("verification", ojson.NewObject("status", "pass", "evidence_summary", "There is nothing that could fail.",
		"commands", []string{"true"},
		"machine_evidence", []*ojson.Object{ojson.NewObject("command", "true", "exit_code", 0)}))
	doc.Set("artifact", ojson.NewObject("type", "review", "ref", nil))
	doc.Set("proposed_next_role", "dev")
	doc.Set("cost", ojson.NewObject("input_tokens", 0, "output_tokens", 0, "usd", 0))
	st, err := r.Standing(ctx)
	if err != nil {
		return err
	}
	if st.View.State.Phase == "build" {
		doc.Set("phase_transition_request", "ship")
	} else {
		doc.Set("run_completion_request", true)
	}
	_, err = r.StageResult(ctx, turnID, ojson.Pretty(doc))
	return err
}
