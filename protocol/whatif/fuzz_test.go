package whatif

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// A case is foreign input: whatever it contains, it is decided or refused.
func FuzzDecodeCase(f *testing.F) {
	f.Add([]byte(`{"given":{"phase":"a","role":"r","files":{"x":"y"},"accepted":3},"result":{"files_changed":["x"]},"expect":{"outcome":"accepted"}}`))
	f.Add([]byte(`{"recorded":{"op":"","state":{},"index":{},"config":{},"operation":{"op":"accept_turn"}},"expect":{"gates":{"g":"open"}}}`))
	f.Add([]byte(`{"given":{"participated":{"a":["r"]},"minutes":1e300},"expect":{"code":"x"}}`))
	cfg, problems, err := config.Decode([]byte(`{"schema_version":"1.0","project":{"id":"p","name":"P"},
		"roles":{"r":{"title":"R","mandate":"m","write_authority":"authoritative","runtime":"m"}},"runtimes":{"m":{"type":"manual"}},
		"routing":{"a":{"entry_role":"r","exit_gate":"g"},"b":{"entry_role":"r"}},"gates":{"g":{"requires_files":["x"]}}}`))
	if err != nil || len(problems) > 0 {
		f.Fatal(err, problems)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCase(data)
		if err != nil {
			return
		}
		chain, problems, err := c.Run(cfg)
		if err == nil && chain == nil || err != nil && len(problems) > 0 {
			t.Fatalf("chain %v, problems %v, error %v", chain, problems, err)
		}
	})
}

// Setting a member never changes its original document, and the new document has the member.
func FuzzSetMember(f *testing.F) {
	f.Add("policies.0.params.limit", "3")
	f.Add(`gates."a.b".requires_files`, `["x"]`)
	f.Add("roles.r.write_authority", `"proposed"`)
	f.Add("routing", "null")
	doc, err := ojson.DecodeObject(
		[]byte(`{"roles":{"r":{"write_authority":"review_only"}},"policies":[{"id":"p","params":{"limit":1}}],"gates":{"a.b":{}}}`))
	if err != nil {
		f.Fatal(err)
	}
	before := string(ojson.Compact(doc))
	f.Fuzz(func(t *testing.T, path, text string) {
		value, err := ojson.Decode([]byte(text))
		if err != nil {
			value = text
		}
		out, refusal := config.SetMember(doc, path, value)
		if string(ojson.Compact(doc)) != before {
			t.Fatal("the document was changed in place")
		}
		if refusal != nil {
			if refusal.Message == "" || out != nil {
				t.Fatalf("refusal %+v with %v", refusal, out)
			}
			return
		}
		again, refusal := config.SetMember(out, path, value)
		if value != nil && (refusal != nil || string(ojson.Compact(again)) != string(ojson.Compact(out))) {
			t.Fatalf("setting it again: %v, %s, %s", refusal, ojson.Compact(again), ojson.Compact(out))
		}
	})
}
