// Package testproject sets up governed projects for tests whose agents pass gates by themselves: like projects from
// before approvers had to be named, which a configuration can still request explicitly.
package testproject

import (
	"context"
	"os"
	"path/filepath"

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

// OpenGates removes authority and the roles of documents from the configuration of a new project and lets its
// policy open the gates whose documents are in order.
func OpenGates(dir string) error {
	path := filepath.Join(dir, wire.ConfigPath)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		return err
	}
	policy, err := ojson.Decode([]byte(openPolicy))
	if err != nil {
		return err
	}
	doc.Delete("authority")
	doc.Delete("workflow_kit") // tests use their own roles and phases
	doc.Set("approval_policy", policy)
	return os.WriteFile(path, ojson.Pretty(doc), 0o666)
}
