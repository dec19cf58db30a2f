// The list of commands. Adding one is a line here and a file of its own.

package cli

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/conform"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/guards"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/look"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/multi"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/neighbours"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/prove"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/whatif"
)

// program returns git agentxchain.
func program() term.Program {
	return term.Program{
		Groups:   shared.Categories(),
		Commands: newCommands,
		Rewrites: commandRewrites(),
		Examples: examples,
		Version:  runVersion,
		Words:    offered,
	}
}

// newCommands makes every command. It must not open or read anything: it runs before every command,
// version included.
func newCommands(f *term.Factory) []*ucli.Command {
	yes, no := true, false
	return []*ucli.Command{
		newInitCommand(f),
		newDemoCommand(f),
		newDoctorCommand(f),
		newAgentsCommand(f),
		newAssignCommand(f),
		newStepCommand(f),
		newRunCommand(f),
		newAcceptCommand(f),
		newRejectCommand(f),
		newReissueCommand(f),
		newApproveCommand(f, "approve", nil),
		newApproveCommand(f, "approve-transition", &no),
		newApproveCommand(f, "approve-completion", &yes),
		prove.NewApprovalsCommand(f),
		prove.NewAttestCommand(f),
		newConfirmCommand(f),
		newEscalateCommand(f),
		newAbandonCommand(f),
		travel.NewClaimCommand(f),
		newUnblockCommand(f),
		newReconcileCommand(f),
		newCheckpointCommand(f),
		newObjectionCommand(f),
		newProposalCommand(f),
		newInjectCommand(f),
		newIntakeCommand(f),
		look.NewStatusCommand(f),
		look.NewHistoryCommand(f),
		look.NewDecisionsCommand(f),
		look.NewEventsCommand(f),
		look.NewEscalationsCommand(f),
		look.NewLogCommand(f),
		look.NewShowCommand(f),
		newGateCommand(f),
		newTurnCommand(f),
		look.NewWhyCommand(f),
		whatif.NewExplainCommand(f),
		look.NewTimelineCommand(f),
		newAtCommand(f),
		look.NewBlameCommand(f),
		whatif.NewWhatifCommand(f),
		whatif.NewBisectCommand(f),
		whatif.NewPolicyCommand(f),
		whatif.NewSimulateCommand(f),
		newValidateCommand(f),
		prove.NewVerifyCommand(f),
		prove.NewWitnessCommand(f),
		newConfigCommand(f),
		guards.NewHooksCommand(f),
		prove.NewFsckCommand(f),
		newRepairCommand(f),
		travel.NewExportCommand(f),
		travel.NewRestoreCommand(f),
		travel.NewSyncCommand(f),
		travel.NewConflictsCommand(f),
		travel.NewRunsCommand(f),
		prove.NewAuditCommand(f),
		prove.NewReportCommand(f),
		prove.NewDiffCommand(f),
		prove.NewCIReportCommand(f),
		newReplayCommand(f),
		guards.NewMergeDriverCommand(f),
		guards.NewTextconvCommand(f),
		multi.NewCommand(f),
		conform.NewCommand(f),
		neighbours.NewMonarchicCommand(f),
		neighbours.NewServeCommand(f),
		neighbours.NewALXCommand(f),
		neighbours.NewImportCommand(f),
		newDashboardCommand(f),
		newMCPCommand(f),
		newVersionCommand(f),
		term.HelpCommand(f, shared.CategoryShell),
		term.CompletionCommand(f, shared.CategoryShell),
		term.ManCommand(f, shared.CategoryShell),
		term.CompleteCommand(f),
	}
}

// commandRewrites maps names of the reference CLI that are two words long, or that belong to
// another command here, to ours. One-word names are Aliases of the command itself.
func commandRewrites() map[string][]string {
	return map[string][]string{
		"verify protocol": {"conformance", "check"},
		"stop":            {"dashboard", "stop"},

		// What a group without a subcommand means.
		"config":            {"config", "show"},
		"gate":              {"gate", "show"},
		"hooks":             {"hooks", "status"},
		"intake":            {"intake", "list"},
		"monarchic lease":   {"monarchic", "lease", "list"},
		"monarchic message": {"monarchic", "message", "list"},
		"multi":             {"multi", "status"},
		"runs":              {"runs", "list"},
		"objection":         {"objection", "list"},
		"policy":            {"policy", "test"},
		"proposal":          {"proposal", "list"},
		"replay":            {"replay", "export"},
		"turn":              {"turn", "show"},
		"verify":            {"verify", "turn"},
	}
}
