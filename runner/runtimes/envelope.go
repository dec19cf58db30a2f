// The minimum that makes a document a turn result (docs/spec/state.md#files,
// docs/run-loop.md#what-becomes-of-a-turn).

package runtimes

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// HasEnvelope reports whether v can be a turn result at all: an object with a
// non-blank schema_version, with run_id or turn_id, and with status, role or
// runtime_id. It is far less than validation, which is for acceptance.
func HasEnvelope(v ojson.Value) bool {
	o, ok := v.(*ojson.Object)
	if !ok || o == nil {
		return false
	}
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return strings.TrimSpace(o.String(k)) != "" })
	}
	return has("schema_version") && has("run_id", "turn_id") && has("status", "role", "runtime_id")
}
