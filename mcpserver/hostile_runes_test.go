// Foreign text that this package shows, checked against the table of hostile runes.

package mcpserver

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestHostileRunes(t *testing.T) {
	texttest.Passes(t, "shown", shown)
	texttest.Passes(t, "answer", func(s string) string {
		return answer(ojson.NewObject("summary", s)).Content[0].(*mcp.TextContent).Text
	})
}
