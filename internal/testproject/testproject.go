// Package testproject sets up governed projects for tests whose agents pass gates by themselves: like projects from
// before approvers had to be named, which a configuration can still request explicitly.
package testproject

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// openPolicy opens planning and the end of the run when the conditions of their gates hold.
const openPolicy = `{"phase_transitions":{"default":"require_human","rules":[` +
	`{"from_phase":"planning","to_phase":"implementation","action":"auto_approve",` +
	`"when":{"gate_passed":true,"credentialed_gate":false}}]},` +
	`"run_completion":{"action":"auto_approve",` +
	`"when":{"gate_passed":true,"all_phases_visited":true,"credentialed_gate":false}}}`

// Init is runner.InitProject followed by OpenGates.
func Init(ctx context.Context, dir string, opt runner.ProjectOptions) (*runner.Project, error) {
	p, err := runner.InitProject(ctx, dir, opt)
	if err != nil {
		return p, err
	}
	return p, OpenGates(dir)
}

// New makes a governed project with one commit in a directory of the test; edit may change its configuration first.
func New(t testing.TB, edit func(cfg *ojson.Object)) (dir string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, dir := context.Background(), t.TempDir()
	repo, err := gitstore.Create(ctx, dir, "Ada", "ada@example.org")
	must(err)
	_, err = Init(ctx, dir, runner.ProjectOptions{ID: "proj"})
	must(err)
	if edit != nil {
		must(editConfig(dir, edit))
	}
	_, err = gitcommit.Paths(ctx, repo, []string{"."}, "governed project")
	must(err)
	must(repo.Close())
	return dir
}

func editConfig(dir string, edit func(cfg *ojson.Object)) error {
	path := filepath.Join(dir, wire.ConfigPath)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	cfg, err := ojson.DecodeObject(data)
	if err != nil {
		return err
	}
	edit(cfg)
	return os.WriteFile(path, ojson.Pretty(cfg), 0o666)
}

// OpenGates removes authority and the roles of documents from the configuration of a new project and lets its
// policy open the gates whose documents are in order.
func OpenGates(dir string) error {
	policy, err := ojson.Decode([]byte(openPolicy))
	if err != nil {
		return err
	}
	return editConfig(dir, func(cfg *ojson.Object) {
		cfg.Delete("authority")
		cfg.Delete("workflow_kit") // tests use their own roles and phases
		cfg.Set("approval_policy", policy)
	})
}
