package localcli

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// TestReported reads what each agent's program printed in one of its runs, shortened to the members
// that count and some that do not.
func TestReported(t *testing.T) {
	for _, tc := range []struct{ name, agent, out, want string }{
		{
			"claude", "claude",
			`{"type":"system","model":"m-1"}` + "\n" +
				`{"type":"result","total_cost_usd":0.0009,"usage":{"input_tokens":200,"output_tokens":20,"cache_read_input_tokens":5}}`,
			`{"input_tokens":200,"output_tokens":20,"cache_read_input_tokens":5,"usd":0.0009,"source":"stream_json","model":"m-1"}`,
		},
		{
			"qwen", "qwen", `{"type":"result","usage":{"input_tokens":200,"output_tokens":20,"total_tokens":220}}`,
			`{"input_tokens":200,"output_tokens":20,"source":"stream_json"}`,
		},
		{
			"codex, two of its turns", "codex",
			`{"type":"turn.completed","usage":{"input_tokens":200,"output_tokens":20}}` + "\nwords\n" +
				`{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":2}}`,
			`{"input_tokens":201,"output_tokens":22,"source":"stream_json"}`,
		},
		{
			"gemini", "gemini",
			`{"type":"result","status":"success","stats":{"total_tokens":220,"input_tokens":200,"output_tokens":20}}`,
			`{"input_tokens":200,"output_tokens":20,"source":"stream_json"}`,
		},
		{
			"opencode without a price", "opencode",
			`{"type":"step_finish","part":{"tokens":{"input":100,"output":10},"cost":0}}` + "\n" +
				`{"type":"step_finish","part":{"tokens":{"input":100,"output":10},"cost":0}}`,
			`{"input_tokens":200,"output_tokens":20,"source":"stream_json"}`,
		},
		{
			"opencode", "opencode",
			`{"type":"step_finish","part":{"tokens":{"input":1,"output":1},"cost":0.25}}` + "\n" +
				`{"type":"step_finish","part":{"tokens":{"input":1,"output":1},"cost":0.5}}`,
			`{"input_tokens":2,"output_tokens":2,"usd":0.75,"source":"stream_json"}`,
		},
		{"nothing that can be a count", "codex",
			`{"type":"turn.completed","usage":{"input_tokens":-1,"output_tokens":1e99}}`, ""},
		{"another agent", "other", `{"type":"result","usage":{"input_tokens":200}}`, ""},
		{"words", "claude", "no JSON at all\n{broken", ""},
	} {
		usd, usage := reported(tc.agent, []byte(tc.out))
		got := ""
		if usage != nil {
			got = string(ojson.Compact(usage))
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
		if (usd != nil) != (usage != nil && usage.Has("usd")) {
			t.Errorf("%s: the cost and the usage do not agree on dollars", tc.name)
		}
	}
}
