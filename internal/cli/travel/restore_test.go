package travel

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/restore"
)

// A run whose only history came with a bundle has no operation here to continue from.
func TestRelationWithoutAnOperationHere(t *testing.T) {
	got := relationText(&restore.Plan{Relation: restore.Continues})
	if got != "continues from its history in the bundle" {
		t.Errorf("it says %q", got)
	}
}
