// Work handed over from a repository's intake to a workstream (docs/coordinator.md#a-turn).

package coordinator

import (
	"os"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// maxHandoffs bounds how many records are read.
const maxHandoffs = 1000

// handoffs returns the records of this super run for a workstream, sorted by name. It skips unreadable ones.
func handoffs(root *os.Root, superRun, workstream string) []*ojson.Object {
	out := []*ojson.Object{}
	for _, name := range filesBelow(root, initiative.HandoffDir) {
		if !strings.HasSuffix(name, ".json") || len(out) >= maxHandoffs {
			continue
		}
		data, err := readRegular(root, name, initiative.MaxConfigBytes)
		if err != nil || data == nil {
			continue
		}
		o, err := ojson.DecodeObject(data)
		if err != nil || o.String("super_run_id") != superRun || o.String("workstream_id") != workstream {
			continue
		}
		row := ojson.NewObject()
		for _, key := range []string{"intent_id", "source_repo", "source_event_id", "source_signal_source",
			"source_signal_category", "charter", "acceptance_contract", "source_event_ref", "evidence_refs",
			"handed_off_at"} {
			row.Set(key, ojson.CloneValue(o.Value(key)))
		}
		out = append(out, row)
	}
	return out
}
