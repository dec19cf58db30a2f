// Arguments of tools: what is accepted, what is refused, and that nothing else gets through.

package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func named(t testing.TB, name string) tool {
	for _, x := range tools() {
		if x.name == name {
			return x
		}
	}
	t.Fatalf("there is no tool %s", name)
	return tool{}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ tool, args, problem string }{
		{"agentxchain_status", ``, ""},
		{"agentxchain_status", `null`, ""},
		{"agentxchain_status", `{}`, ""},
		{"agentxchain_status", `{"x":1}`, `takes no argument "x"; it takes none`},
		{"agentxchain_status", `[]`, "cannot be read"},
		{"agentxchain_status", `{`, "cannot be read"},
		{"agentxchain_events", `{"limit":1}`, ""},
		{"agentxchain_events", `{"limit":1000}`, ""},
		{"agentxchain_events", `{"limit":null}`, ""},
		{"agentxchain_events", `{"limit":5.0}`, ""},
		{"agentxchain_events", `{"limit":0}`, "whole number"},
		{"agentxchain_events", `{"limit":1001}`, "whole number"},
		{"agentxchain_events", `{"limit":1.5}`, "whole number"},
		{"agentxchain_events", `{"limit":"5"}`, "whole number"},
		{"agentxchain_accept_turn", `{"checkpoint":true,"turn_id":"t"}`, ""},
		{"agentxchain_accept_turn", `{"checkpoint":"yes"}`, "true or false"},
		{"agentxchain_accept_turn", `{"turn_id":7}`, "must be a string, not a number"},
		{"agentxchain_accept_turn", `{"turn_id":"` + strings.Repeat("x", 201) + `"}`, "longer than 200 bytes"},
		{"agentxchain_stage_result", `{"result":{}}`, ""},
		{"agentxchain_stage_result", `{"result":"{}"}`, ""},
		{"agentxchain_stage_result", `{"result":[]}`, "must be a JSON object"},
		{"agentxchain_stage_result", `{"result":{},"result":{}}`, "cannot be read"},
	} {
		_, problem := named(t, c.tool).read([]byte(c.args))
		if (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%s %.60s: %q, want %q", c.tool, c.args, problem, c.problem)
		}
	}
}

// What a schema promises, the check keeps: names, types and nothing else.
func TestSchemas(t *testing.T) {
	seen := make(map[string]bool)
	for _, x := range tools() {
		if seen[x.name] || !strings.HasPrefix(x.name, "agentxchain_") || x.about == "" {
			t.Errorf("tool %q", x.name)
		}
		seen[x.name] = true
		data, err := json.Marshal(x.schema())
		if err != nil {
			t.Fatal(err)
		}
		o, err := ojson.DecodeObject(data)
		if err != nil || o.String("type") != "object" || o.Bool("additionalProperties") ||
			!o.Has("additionalProperties") || o.Object("properties").Len() != len(x.args) {
			t.Errorf("%s: %s", x.name, data)
		}
	}
	for _, need := range []string{"status", "events", "history", "approve_gate", "intake_record", "assign_turn",
		"stage_result", "accept_turn", "decisions", "gates"} {
		if !seen["agentxchain_"+need] {
			t.Errorf("there is no agentxchain_%s", need)
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add("agentxchain_events", []byte(`{"limit":5}`))
	f.Add("agentxchain_stage_result", []byte(`{"result":{"a":[1,2,{"b":null}]},"turn_id":"x"}`))
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		for _, x := range tools() {
			if x.name != name {
				continue
			}
			args, problem := x.read(raw)
			if problem != "" {
				continue
			}
			for key := range args.All() {
				if !strings.Contains(x.takes(), key) {
					t.Fatalf("%s took %q", name, key)
				}
			}
			if n, ok := args.Int("limit"); ok && (n < 1 || n > maxLimit) {
				t.Fatalf("a limit of %d", n)
			}
		}
	})
}
