// Command git-agentxchain is a git-native AgentXchain: "git agentxchain help" lists what it does.
package main

import (
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args, cli.OSEnv())) }
