package attribution_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-agentxchain/git-agentxchain/attribution"
)

// The schema that editors use for completion agrees with the command.
func TestRangePolicySchema(t *testing.T) {
	data, err := os.ReadFile("../docs/schemas/range-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var published jsonschema.Schema
	if err := json.Unmarshal(data, &published); err != nil {
		t.Fatal(err)
	}
	schema, err := published.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{}`: true,
		`{"$schema":"x","schema_version":"1.0","people":["docs/**"],"gates":["g"],"approvals":{"at_least":2,"signed":true}}`: true,
		`{"people":[]}`:                  true,
		`{"approvals":{}}`:               true,
		`{"approvals":{"signed":false}}`: true,
		`{"peple":[]}`:                   false,
		`{"people":[""]}`:                false,
		`{"people":[1]}`:                 false,
		`{"people":"docs/**"}`:           false,
		`{"people":null}`:                false,
		`{"people":{}}`:                  false,
		`{"gates":[["g"]]}`:              false,
		`{"gates":null}`:                 false,
		`{"schema_version":"2.0"}`:       false,
		`{"schema_version":1}`:           false,
		`{"approvals":[]}`:               false,
		`{"approvals":null}`:             false,
		`{"approvals":{"at_least":-1}}`:  false,
		`{"approvals":{"at_least":1.5}}`: false,
		`{"approvals":{"at_least":"1"}}`: false,
		`{"approvals":{"signed":1}}`:     false,
		`{"approvals":{"signd":true}}`:   false,
		`[]`:                             false,
		`"x"`:                            false,
	} {
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); (err == nil) != want {
			t.Errorf("the schema on %s: %v", text, err)
		}
		if _, err := attribution.ParseRangePolicy([]byte(text)); (err == nil) != want {
			t.Errorf("the command on %s: %v", text, err)
		}
	}
}

// FuzzRangePolicy: no policy causes a panic, and an accepted policy has no rule that is not understood.
func FuzzRangePolicy(f *testing.F) {
	f.Add([]byte(`{"schema_version":"1.0","people":["ada@example.org"],"paths":["docs/**"],"gates":["planning_signoff"],"approvals":1,"signed":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := attribution.ParseRangePolicy(data)
		if (p == nil) == (err == nil) {
			t.Fatalf("%v %v", p, err)
		}
		if err == nil && p.Approvals < 0 {
			t.Errorf("%d approvals", p.Approvals)
		}
	})
}
