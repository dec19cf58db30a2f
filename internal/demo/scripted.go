// The project of serve --init: a script carries out its turns.

package demo

import (
	_ "embed"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// AgentFile is the name of the script, beside agentxchain.json.
const AgentFile = "agent.sh"

//go:embed agent.sh
var agent []byte

// Agent returns the script.
func Agent() []byte { return agent }

// ScriptedConfig returns the agentxchain.json of a project with that name: two phases, gates that open without a
// person, and one role bound to the script.
func ScriptedConfig(name string) []byte {
	doc := automaticConfig([]string{"sh", AgentFile})
	id := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name), "-")
	if id == "" {
		id = "project"
	}
	doc.Object("project").Set("id", id)
	doc.Object("project").Set("name", id)
	doc.Set("runtimes", ojson.NewObject("agent",
		ojson.NewObject("type", "local_cli", "command", []string{"sh", AgentFile})))
	doc.Object("roles").Object("dev").Set("runtime", "agent")
	doc.Set("gates", ojson.NewObject("built", ojson.NewObject("requires_verification_pass", true),
		"shipped", ojson.NewObject("requires_verification_pass", true)))
	return ojson.Pretty(doc)
}
