// alx: the ALX protocol, its Knowledge Blocks, settlements and conformance.

package neighbours

import (
	"slices"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
)

func NewALXCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "alx",
		Category: shared.CategoryNeighbours,
		Usage:    "work with the ALX protocol: Knowledge Blocks, costs, conformance",
		Subcommands: []*ucli.Command{
			newALXHashCommand(f),
			newALXValidateCommand(f),
			newALXSettleCommand(f),
			newALXConformanceCommand(f),
			newALXScriptedTurnCommand(f),
		},
	}
}

// blockFile is a Knowledge Block with the name of its file.
type blockFile struct {
	Name  string
	Block *ojson.Object
}

// openBlocks reads the named files, standard input for "-" and when none is named. It stops at a
// file that does not hold a JSON object: nothing can be said about it.
func openBlocks(f *term.Factory, names []string) ([]blockFile, error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, term.UsageErrorf("%s is named twice", term.OneLine(name))
		}
	}
	out := make([]blockFile, 0, len(names))
	for _, name := range names {
		data, err := shared.ReadStart(f, name, kb.MaxBytes)
		if err != nil {
			return nil, term.Errorf("unreadable_input", "the Knowledge Block %s cannot be read: %w",
				term.OneLine(name), err)
		}
		block, err := kb.Parse(data)
		if err != nil {
			return nil, term.Errorf("invalid_json", "%s: %w", name, err)
		}
		out = append(out, blockFile{name, block})
	}
	return out, nil
}
