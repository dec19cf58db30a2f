// What this program was built from.

package shared

import "runtime/debug"

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
