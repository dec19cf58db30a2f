// What a turn cost, from the agent's own report (docs/runtimes.md#local_cli).

package localcli

import (
	"bytes"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// claudeCost reads the last result record of claude's stream-json output; nil when
// there is none. The keys of usage are those of a turn result's cost.
func claudeCost(stdout []byte) (*float64, *ojson.Object) {
	var last *ojson.Object
	model := ""
	for line := range bytes.Lines(stdout) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		doc, err := ojson.DecodeObject(line)
		if err != nil {
			continue
		}
		if m := doc.String("model"); m != "" {
			model = m
		} else if m := doc.Object("message").String("model"); m != "" {
			model = m
		}
		if doc.String("type") == "result" {
			last = doc
		}
	}
	if last == nil {
		return nil, nil
	}
	usage := last.Object("usage")
	out := ojson.NewObject()
	for _, key := range []string{"input_tokens", "output_tokens"} {
		if n, ok := usage.Int(key); ok && n >= 0 {
			out.Set(key, n)
		}
	}
	var cost *float64
	for _, key := range []string{"total_cost_usd", "cost_usd"} {
		if usd, ok := last.Float(key); ok && usd >= 0 && usd < 1e6 {
			cost = &usd
			out.Set("usd", usd)
			break
		}
	}
	if out.Len() == 0 {
		return nil, nil
	}
	out.Set("source", "stream_json")
	if model != "" {
		out.Set("model", model)
	}
	for _, key := range []string{"cache_creation_input_tokens", "cache_read_input_tokens"} {
		if n, ok := usage.Int(key); ok && n >= 0 {
			out.Set(key, n)
		}
	}
	return cost, out
}
