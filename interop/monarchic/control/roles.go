// Governed roles as AgentRole (docs/monarchic-export.md#kinds).

package control

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// roleToken returns the JSON token of an AgentRole.
func roleToken(r pb.AgentRole) string { return strings.ToLower(r.String()) }

// roleValue returns the AgentRole of a token.
func roleValue(token string) pb.AgentRole {
	if n, ok := pb.AgentRole_value[strings.ToUpper(token)]; ok {
		return pb.AgentRole(n)
	}
	return pb.AgentRole_AGENT_ROLE_UNSPECIFIED
}

// agentRole returns the token that a configured role corresponds to.
func agentRole(cfg *runner.Config, id string) string {
	authority := ""
	if r := cfg.Role(id); r != nil {
		authority = r.WriteAuthority
	}
	return string(bridge.AgentRole(id, authority))
}
