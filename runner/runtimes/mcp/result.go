// The turn result in a tool's answer (docs/runtimes.md#mcp).

package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// maxText bounds how much of a tool's own words is repeated, in bytes.
const maxText = 2000

// interpret extracts the turn result from the result of tools/call, as it came over the wire;
// problem says why there is none.
func interpret(tool string, raw []byte) (result []byte, problem string) {
	o, err := ojson.DecodeObject(raw)
	if err != nil {
		return nil, fmt.Sprintf("MCP tool %q answered with something that cannot be read: %s", tool,
			runtimes.OneLine(err.Error()))
	}
	texts := textBlocks(o)
	if o.Bool("isError") {
		if said := strings.TrimSpace(strings.Join(texts, "\n")); said != "" {
			return nil, fmt.Sprintf("MCP tool %q returned an error: %s", tool,
				runtimes.OneLine(said[:min(len(said), maxText)]))
		}
		return nil, fmt.Sprintf("MCP tool %q returned an error without diagnostic text.", tool)
	}
	toolResult := o.Object("toolResult")
	for _, candidate := range []*ojson.Object{o.Object("structuredContent"), toolResult.Object("structuredContent"),
		toolResult} {
		if runtimes.HasEnvelope(candidate) {
			return ojson.Pretty(candidate), ""
		}
	}
	for _, t := range texts {
		v, err := ojson.DecodeLimited([]byte(t), ojson.Limits{Bytes: protocol.MaxStagedBytes})
		if err == nil && runtimes.HasEnvelope(v) {
			return []byte(t), ""
		}
	}
	if len(texts) == 0 {
		return nil, "MCP tool returned no structuredContent and no text content blocks containing a turn result."
	}
	return nil, "MCP tool returned text content, but none of the text blocks contained valid turn-result JSON."
}

// textBlocks returns the texts of the content, or those of toolResult when there is no other.
func textBlocks(o *ojson.Object) (out []string) {
	for _, from := range []*ojson.Object{o, o.Object("toolResult")} {
		for _, block := range from.Objects("content") {
			if block.String("type") == "text" {
				out = append(out, block.String("text"))
			}
		}
	}
	return out
}

// encode returns a result of the SDK as it would be on the wire; nil when it cannot be encoded.
func encode(res *mcp.CallToolResult) []byte {
	if res == nil {
		return nil
	}
	raw, err := json.Marshal(res)
	if err != nil {
		return nil
	}
	return raw
}
