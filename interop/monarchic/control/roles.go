// Governed roles as AgentRole (docs/monarchic-export.md#kinds).

package control

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
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
	name := strings.ToLower(id)
	if n, ok := pb.AgentRole_value[strings.ToUpper(id)]; ok && n != 0 {
		return name
	}
	switch name {
	case "pm", "product", "product_manager", "po":
		return "product_owner"
	case "program_manager", "coordinator", "scrum_master", "eng_director", "director":
		return "project_manager"
	case "engineer", "developer", "architect", "implementer":
		return "dev"
	case "tester", "test", "verifier":
		return "qa"
	case "devops", "sre", "infra":
		return "ops"
	case "release", "release_manager", "docs", "scribe", "marketing":
		return "publisher"
	case "human":
		return ""
	}
	if strings.Contains(name, "review") {
		return "reviewer"
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool {
		return r == '_' || r == '-' || r == ' ' || r == '.'
	}) {
		if strings.HasPrefix(word, "sec") {
			return "security"
		}
	}
	if r := cfg.Role(id); r != nil && r.WriteAuthority == wire.ReviewOnly {
		return "reviewer"
	}
	return "dev"
}
