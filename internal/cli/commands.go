// The list of commands. Adding one is a line here and a file of its own.

package cli

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

// Categories in the order help shows them.
const (
	categoryStart      = "start"
	categoryRun        = "run"
	categoryLook       = "look"
	categoryTrust      = "trust"
	categoryMove       = "move"
	categoryMulti      = "many repositories"
	categoryProve      = "prove"
	categoryNeighbours = "neighbours"
	categoryView       = "view"
	categoryShell      = "shell"
)

func categories() []string {
	return []string{
		categoryStart, categoryRun, categoryLook, categoryTrust, categoryMove,
		categoryMulti, categoryProve, categoryNeighbours, categoryView, categoryShell,
	}
}

// program is git agentxchain.
func program() term.Program {
	return term.Program{
		Groups:   categories(),
		Commands: newCommands,
		Rewrites: commandRewrites(),
		Examples: examples,
		Version:  runVersion,
		Words:    offered,
	}
}

// newCommands makes every command. Nothing may be opened or read here: this
// runs before every command, version included.
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
		newApprovalsCommand(f),
		newAttestCommand(f),
		newConfirmCommand(f),
		newEscalateCommand(f),
		newAbandonCommand(f),
		newClaimCommand(f),
		newUnblockCommand(f),
		newReconcileCommand(f),
		newCheckpointCommand(f),
		newObjectionCommand(f),
		newProposalCommand(f),
		newInjectCommand(f),
		newIntakeCommand(f),
		newStatusCommand(f),
		newHistoryCommand(f),
		newDecisionsCommand(f),
		newEventsCommand(f),
		newEscalationsCommand(f),
		newLogCommand(f),
		newShowCommand(f),
		newGateCommand(f),
		newTurnCommand(f),
		newWhyCommand(f),
		newExplainCommand(f),
		newTimelineCommand(f),
		newAtCommand(f),
		newBlameCommand(f),
		newWhatifCommand(f),
		newBisectCommand(f),
		newPolicyCommand(f),
		newSimulateCommand(f),
		newValidateCommand(f),
		newVerifyCommand(f),
		newWitnessCommand(f),
		newConfigCommand(f),
		newHooksCommand(f),
		newFsckCommand(f),
		newRepairCommand(f),
		newExportCommand(f),
		newRestoreCommand(f),
		newSyncCommand(f),
		newConflictsCommand(f),
		newRunsCommand(f),
		newAuditCommand(f),
		newReportCommand(f),
		newDiffCommand(f),
		newCIReportCommand(f),
		newReplayCommand(f),
		newMergeDriverCommand(f),
		newTextconvCommand(f),
		newMultiCommand(f),
		newConformanceCommand(f),
		newMonarchicCommand(f),
		newServeCommand(f),
		newALXCommand(f),
		newDashboardCommand(f),
		newMCPCommand(f),
		newVersionCommand(f),
		term.HelpCommand(f, categoryShell),
		term.CompletionCommand(f, categoryShell),
		term.ManCommand(f, categoryShell),
		term.CompleteCommand(f),
	}
}

// commandRewrites maps names of the reference CLI that are two words long, or
// that belong to another command here, to ours. One-word names are Aliases of
// the command itself.
func commandRewrites() map[string][]string {
	return map[string][]string{
		"verify protocol": {"conformance", "check"},
		"stop":            {"dashboard", "stop"},

		// What a group stands for without a subcommand.
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
