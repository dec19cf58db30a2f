// Isolated agents: the program that becomes one.

package runner

import "github.com/git-agentxchain/git-agentxchain/internal/confine"

// AgentHelper must be called first in main, with os.Args, by a program that drives turns and wants
// isolation "landlock" or "user" for their agents: the program starts itself again to give up its
// rights and become the agent. In such a process AgentHelper does not return. A program that does
// not call it can use only "bubblewrap"; the other isolations are refused (isolation_unavailable).
func AgentHelper(args []string) { confine.Helper(args) }
