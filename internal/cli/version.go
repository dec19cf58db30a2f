// version: what this program is and what it was built from.

package cli

import (
	"runtime"
	"runtime/debug"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// ProtocolVersion is the AgentXchain protocol this program implements.
const ProtocolVersion = "v7"

// Build identifies a build of this program.
type Build struct {
	Version  string // module version, "devel" for a build from a work tree
	Revision string // commit id, "" when unknown
	Time     string // commit time, RFC 3339, "" when unknown
	Modified bool   // built from a work tree with changes
	GoGit    string // module version of go-git, "" when unknown
}

// ReadBuild reads what the Go toolchain recorded in the binary.
func ReadBuild() Build {
	b := Build{Version: "devel"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/go-git/go-git/v5" {
			b.GoGit = dep.Version
		}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func newVersionCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "version",
		Category: categoryStart,
		Usage:    "print version, revision and protocol; check this binary against a release",
		Description: "With --check, nothing is printed but the verdict: the signature of the checksum file is judged, then whether the " +
			"file lists this binary. Both happen offline. FILE.sig is the signature, as ssh-keygen -Y sign -n file writes it.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "check", Usage: "judge this binary by the signed checksum `FILE` of a release"},
			&ucli.StringFlag{Name: "signature", Usage: "the signature of the checksum file is in this `FILE`; FILE.sig by default"},
			&ucli.StringFlag{Name: "allowed-signers", Usage: "whose signatures count is in this `FILE`; the one of git's gpg.ssh.allowedSignersFile by default"},
		},
		Action: func(c *ucli.Context) error {
			if c.String("check") != "" {
				return runVersionCheck(c.Context, f, c.String("check"), c.String("signature"), c.String("allowed-signers"))
			}
			if c.IsSet("signature") || c.IsSet("allowed-signers") {
				return term.UsageErrorf("--signature and --allowed-signers go with --check FILE")
			}
			return runVersion(f)
		},
	}
}

func runVersion(f *term.Factory) error {
	b := ReadBuild()
	payload := ojson.NewObject(
		"name", "git-agentxchain", "version", b.Version, "revision", b.Revision, "revision_time", b.Time,
		"modified", b.Modified, "agentxchain_protocol", ProtocolVersion, "rule_set", protocol.RuleSet,
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
		p.Printf("\nAgentXchain protocol %s\nrule set %d\n", ProtocolVersion, protocol.RuleSet)
		p.Printf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
		if b.GoGit != "" {
			p.Printf(", go-git %s", b.GoGit)
		}
		p.Printf("\n")
	})
	return nil
}
