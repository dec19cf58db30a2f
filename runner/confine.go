// Isolated agents: the program that becomes one.

package runner

import "github.com/git-agentxchain/git-agentxchain/internal/confine"

// AgentHelper is to be called first in main, with os.Args, by a program that drives
// turns and wants isolation "landlock" or "user" for their agents: it starts itself
// again to give up its rights and become the agent. In such a process AgentHelper
// does not return. A program that does not call it can have "bubblewrap" alone; the
// others are refused there (isolation_unavailable).
func AgentHelper(args []string) { confine.Helper(args) }
