// What a dispatch to a local program would find (docs/runtimes.md#local_cli, command preflight).

package localcli

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Probe looks for the program, checks its command line, and asks a known agent for its version.
func (*Runtime) Probe(ctx context.Context, req *runtimes.ProbeRequest) []runtimes.Finding {
	raw, at := req.Runtime.Raw, "runtimes."+req.Runtime.ID
	words := runtimes.Command(raw)
	if len(words) == 0 {
		return []runtimes.Finding{{
			Code:    "command_missing",
			Message: "it names no command",
			Hint:    "set " + at + ".command in " + wire.ConfigPath,
		}}
	}
	dir, err := workDir(req.Root, raw.String("cwd"))
	if err != nil {
		return []runtimes.Finding{{
			Code:    "cwd_invalid",
			Message: fmt.Sprintf("its directory %q cannot be used: %s", raw.String("cwd"), err),
			Hint:    "change " + at + ".cwd in " + wire.ConfigPath,
		}}
	}
	if problem := hooks.ProgramProblem(words[0], dir); problem != "" {
		hint := "install it, or change " + at + ".command in " + wire.ConfigPath
		if strings.ContainsAny(words[0], " \t") {
			hint = "put the arguments into " + at + ".args, or make command an array"
		}
		return []runtimes.Finding{{Code: "command_missing", Message: problem, Hint: hint}}
	}
	if problem := incompatible(words); problem != "" {
		return []runtimes.Finding{{
			Code:    "command_incompatible",
			Message: problem,
			Hint:    "change " + at + ".command in " + wire.ConfigPath,
		}}
	}
	return []runtimes.Finding{version(ctx, req, words[0], dir)}
}
