// The published schema of agentxchain.json agrees with the decoder, as far as a schema can.

package config

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/schematest"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestSchemaJudgesAsTheDecoder(t *testing.T) {
	testrepo.Thorough(t)
	judge := func(doc *ojson.Object) (found []string) {
		_, problems := DecodeObject(doc)
		for _, p := range problems {
			found = append(found, p.Message)
		}
		return found
	}
	schematest.Agree(t, schematest.Read(t, "../../docs/schemas/agentxchain.json"), "testdata/every-member.json", judge,
		// One member is compared with another.
		"which is not declared in", "which is not in", "can only propose changes", "writes files directly",
		"must contain {prompt}", "must be greater than", "must not be smaller", "must not be greater",
		"requires_human_approval: true", "but the group has")
}
