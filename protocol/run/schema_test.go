// The published schema of a run's state is generated from its types.

package run

import (
	"reflect"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/schematest"
)

func TestSchemaOfTheState(t *testing.T) {
	schema := schematest.Head("run-state.json", "The state of a run")
	schema.Set("description", "A run's state.json, and the member state of status --json (docs/spec/state.md).")
	for k, v := range schematest.OfType(reflect.TypeFor[State]()).All() {
		schema.Set(k, v)
	}
	schematest.Same(t, "../../docs/schemas/run-state.json", schema)
}
