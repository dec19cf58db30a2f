// Tests that the configuration of a new project matches its schema.

package scaffold

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/schematest"
)

func TestSchemaOfNewProjects(t *testing.T) {
	if SchemaAddress != schematest.Address("agentxchain.json") {
		t.Error(SchemaAddress)
	}
	schema := schematest.Read(t, "../../docs/schemas/agentxchain.json")
	for _, template := range IDs() {
		for _, agent := range append([]string{""}, AgentIDs()...) {
			p := Params{ProjectID: "p", ProjectName: "P", Goal: "g", DefaultBranch: "main", Approver: "ada@example.org"}
			if agent != "" {
				a, err := FindAgent(agent)
				if err != nil {
					t.Fatal(err)
				}
				p.Agent = a
			}
			doc, err := ojson.DecodeObject([]byte(scaffold(t, template, p)["agentxchain.json"]))
			if err != nil {
				t.Fatal(err)
			}
			if err := schematest.Validate(schema, doc); err != nil {
				t.Errorf("%s with %q: %v", template, agent, err)
			}
		}
	}
}
