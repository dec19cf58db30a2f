// version: what this program is and what it was built from.

package cli

import (
	"runtime"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

func newVersionCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "version",
		Category: shared.CategoryStart,
		Usage:    "print version, revision and protocol; check this binary against a release",
		Description: "With --check it prints only the verdict: whether the signature of the checksum file is good, " +
			"and whether the file lists this binary. Both checks work offline. FILE.sig is the signature, as " +
			"ssh-keygen -Y sign -n file writes it.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "check", Usage: "check this binary against the signed checksum `FILE` of a release"},
			&ucli.StringFlag{
				Name:  "signature",
				Usage: "the signature of the checksum file is in this `FILE`; FILE.sig by default",
			},
			&ucli.StringFlag{
				Name:  "allowed-signers",
				Usage: "whose signatures count is in this `FILE`; the one of git's gpg.ssh.allowedSignersFile by default",
			},
		},
		Action: func(c *ucli.Context) error {
			if c.String("check") != "" {
				return runVersionCheck(c.Context, f, c.String("check"), c.String("signature"),
					c.String("allowed-signers"))
			}
			if c.IsSet("signature") || c.IsSet("allowed-signers") {
				return term.UsageErrorf("--signature and --allowed-signers go with --check FILE")
			}
			return runVersion(f)
		},
	}
}

func runVersion(f *term.Factory) error {
	b := shared.ReadBuild()
	payload := ojson.NewObject(
		"name", "git-agentxchain", "version", b.Version, "revision", b.Revision, "revision_time", b.Time,
		"modified", b.Modified, "agentxchain_protocol", shared.ProtocolVersion, "rule_set", protocol.RuleSet,
		"go", runtime.Version(), "go_git", b.GoGit, "os", runtime.GOOS, "arch", runtime.GOARCH,
	)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("git-agentxchain %s", b.Version)
		if b.Revision != "" {
			p.Printf(" (%.12s", b.Revision)
			if b.Time != "" {
				p.Printf(", %.10s", b.Time)
			}
			if b.Modified {
				p.Printf(", modified")
			}
			p.Printf(")")
		}
		p.Printf("\nAgentXchain protocol %s\nrule set %d\n", shared.ProtocolVersion, protocol.RuleSet)
		p.Printf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
		if b.GoGit != "" {
			p.Printf(", go-git %s", b.GoGit)
		}
		p.Printf("\n")
	})
	return nil
}
