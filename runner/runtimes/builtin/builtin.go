// The runtimes that come with git agentxchain.

// Package builtin makes the runtime of a configured type. It links all of them; code that drives
// turns receives its constructor and links none.
package builtin

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/apiproxy"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/localcli"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/manual"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/mcp"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/remote"
)

// New makes the runtime that rt configures (docs/runtimes.md). For an unknown type the error is a
// *wire.Error with the code invalid_argument.
func New(rt *config.Runtime) (runtimes.Runtime, error) {
	switch rt.Type {
	case config.RuntimeManual:
		return manual.New(), nil
	case "local_cli":
		return localcli.New(), nil
	case "remote_agent":
		return remote.New(), nil
	case "mcp":
		return made(mcp.New(rt))
	case "api_proxy":
		return made(apiproxy.New(rt))
	}
	return nil, &wire.Error{Code: wire.CodeInvalidArgument, Field: "runtimes." + rt.ID + ".type",
		Message: fmt.Sprintf("Runtime %s has the type %q, which this program does not support.", rt.ID, rt.Type),
		Hint:    "git agentxchain validate"}
}

// made keeps a nil of a concrete type from posing as a runtime.
func made[R runtimes.Runtime](r R, err error) (runtimes.Runtime, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}
