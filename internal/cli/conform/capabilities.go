// conformance capabilities: the document that tells verifiers how to start our adapter.

package conform

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/conformance"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func newConformanceCapabilitiesCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "capabilities", Usage: "print what this program claims and how its adapter is started",
		Description: "The content of " + conformance.CapabilitiesPath + ", bare, --json or not. " +
			"The adapter is named git-agentxchain when PATH leads to this program by that name, by its absolute path otherwise.",
		Action: func(c *ucli.Context) error {
			doc, err := ownCapabilities()
			if err != nil {
				return err
			}
			if _, err := f.Out.Raw().Write(doc); err != nil {
				return term.Errorf("io_failed", "cannot write the document: %w", err)
			}
			return nil
		},
	}
}

// ownCapabilities returns the document as it is printed and written.
func ownCapabilities() ([]byte, error) {
	command, err := conformance.AdapterCommand()
	if err != nil {
		return nil, term.Errorf("io_failed", "%w", err)
	}
	return ojson.Pretty(conformance.OwnCapabilities(shared.ReadBuild().Version, shared.ProtocolVersion,
		conformance.ProtocolStdio, command)), nil
}
