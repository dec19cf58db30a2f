// monarchic: plans and records of the Monarchic agent protocol v1.

package neighbours

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

func NewMonarchicCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "monarchic",
		Category: shared.CategoryNeighbours,
		Usage:    "exchange plans, records and messages with the Monarchic agent protocol v1",
		Subcommands: []*ucli.Command{
			newMonarchicValidateCommand(f),
			newMonarchicUpgradeCommand(f),
			newMonarchicImportCommand(f),
			newMonarchicExportCommand(f),
			newMonarchicMessageCommand(f),
			newMonarchicProtoCommand(f),
			newMonarchicServeCommand(f),
			newMonarchicLeaseCommand(f),
		},
	}
}
