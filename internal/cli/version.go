// version: what this program is and what it was built from.

package cli

import (
	"runtime"
	"runtime/debug"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// ProtocolVersion is the AgentXchain protocol this program implements.
const ProtocolVersion = "v7"

// Build identifies a build of this program.
type Build struct {
	Version  string // module version, "devel" for a build from a work tree
	Revision string // commit id, "" when unknown
	Time     string // commit time, RFC 3339, "" when unknown
	Modified bool   // built from a work tree with changes
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
		Usage:    "print version, revision and protocol",
		Action:   func(*ucli.Context) error { return runVersion(f) },
	}
}

func runVersion(f *term.Factory) error {
	b := ReadBuild()
	payload := ojson.NewObject(
		"name", "git-agentxchain", "version", b.Version, "revision", b.Revision, "revision_time", b.Time,
		"modified", b.Modified, "agentxchain_protocol", ProtocolVersion,
		"go", runtime.Version(), "os", runtime.GOOS, "arch", runtime.GOARCH,
	)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("git-agentxchain %s", b.Version)
		if b.Revision != "" {
			p.Printf(" (%.12s", b.Revision)
			if b.Modified {
				p.Printf(", modified")
			}
			p.Printf(")")
		}
		p.Printf("\nAgentXchain protocol %s\n%s %s/%s\n", ProtocolVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	})
	return nil
}
