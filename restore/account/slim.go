// Rows of the ledgers that grow with every turn, without what no report uses.

package account

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// slim returns a row with only the members that a report uses. Most of a history consists of each turn's digests of
// every file it saw.
func slim(path string, row *ojson.Object) *ojson.Object {
	switch path {
	case pathHistory:
		o := only(row, "turn_id", "run_id", "role", "phase", "status", "summary", "objections",
			"phase_transition_request", "concurrent_with", "cost", "accepted_sequence", "accepted_at", "started_at",
			"duration_ms", "delegations_issued", "delegation_context", "delegation_review")
		o.Set("decisions", ids(row, "decisions"))
		if v := row.Object("verification"); v != nil {
			o.Set("verification", only(v, "status"))
		}
		if v := row.Object("observed_artifact"); v != nil {
			o.Set("observed_artifact", only(v, "attributed_to_concurrent_siblings"))
		}
		o.Set(filesChanged, len(row.Array(filesChanged)))
		return o
	case pathHuman:
		return only(row, "kind", "escalation_id", "run_id", "phase", "type", "category", "blocked_on", "detail",
			"action", "turn_id", "role_id", "created_at", "resolved_at", "resolved_via", "resolution_notes")
	case pathEvents:
		o := only(row, "event_id", "event_type", "type", "timestamp", "run_id", "phase", "status", "turn", "turn_id",
			"role", "role_id", "repo_id", "summary")
		if p := row.Object("payload"); p != nil {
			o.Set("payload", only(p, "from", "from_phase", "to", "to_phase", "gate_id", "gate", "gate_type",
				"requested_by_turn", "resolution", "workstream_id", "repo_id", "count", "intents", "intent_ids",
				"previous_run_id", "next_run_id", "next_objective", "objective", "exhaustion_reason", "remaining_usd"))
		}
		return o
	}
	return row
}

// filesChanged holds the number of files in a slim row.
const filesChanged = "files_changed"

func only(o *ojson.Object, keys ...string) *ojson.Object {
	out := &ojson.Object{}
	for _, k := range keys {
		if v, ok := o.Get(k); ok {
			out.Set(k, v)
		}
	}
	return out
}

// weight estimates the memory of a value, in bytes.
func weight(v any) int64 {
	n := int64(32)
	switch v := v.(type) {
	case string:
		n += int64(len(v))
	case ojson.Number:
		n += int64(len(v))
	case []any:
		for _, x := range v {
			n += weight(x)
		}
	case *ojson.Object:
		for k, x := range v.All() {
			n += 32 + int64(len(k)) + weight(x)
		}
	}
	return n
}
