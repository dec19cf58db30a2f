// The published schema of turn results agrees with the schema stage where results are strict.

package result

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/schematest"
)

func TestSchemaJudgesAsTheFirstStage(t *testing.T) {
	judge := func(doc *ojson.Object) (found []string) {
		r := &stageReport{}
		checkSchema(r, doc)
		if len(r.problems) == 0 {
			checkShapes(r, doc)
			checkIdleExpansion(r, doc, nil)
		}
		for _, p := range r.problems {
			found = append(found, p.Message)
		}
		return found
	}
	schema := schematest.Read(t, "../../docs/schemas/turn-result.json")
	schematest.Agree(t, schema, "testdata/every-member.json", judge,
		"still holds the template's placeholder", "overrides itself")
	schematest.Agree(t, schema, "testdata/vision-exhausted.json", judge,
		"still holds the template's placeholder", "overrides itself")
}
