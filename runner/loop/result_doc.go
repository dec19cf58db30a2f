// Turn results as documents: is it one, whose attempt is it, what did it cost.

package loop

import (
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// envelope says why data is no turn result at all, "" when it may be one.
func envelope(data []byte) string {
	if len(data) > protocol.MaxStagedBytes {
		return fmt.Sprintf("the result is larger than %d bytes", protocol.MaxStagedBytes)
	}
	doc, refusal := protocol.DecodeStaged("the result", data)
	if refusal != nil {
		return refusal.Message
	}
	if !runtimes.HasEnvelope(doc) {
		return "the result lacks what every turn result has: schema_version, run_id or turn_id, and status, role or runtime_id"
	}
	return ""
}

// ofAttempt reports whether a staged result was written for the present attempt of
// the turn: it names the turn or the run, and it is not older than the dispatch.
func ofAttempt(turn *run.Turn, st runner.StagedFacts) bool {
	doc, refusal := protocol.DecodeStaged("the result", st.Data)
	if refusal != nil {
		return false
	}
	if id := doc.String("turn_id"); id != "" && id != turn.TurnID {
		return false
	}
	at, err := wire.ParseTime(turn.DispatchedAt)
	if err != nil {
		return turn.Attempt <= 1
	}
	// File systems stamp with a clock that ticks every few milliseconds.
	return !st.ModTime.Before(at.Add(-20 * time.Millisecond))
}

// withCost adds to a result what the runtime knows of its cost and the agent has
// not said.
func withCost(data []byte, out *runtimes.Outcome) ([]byte, bool) {
	if out.CostUSD == nil && out.Usage == nil {
		return data, false
	}
	doc, refusal := protocol.DecodeStaged("the result", data)
	if refusal != nil {
		return data, false
	}
	cost := doc.Object("cost").Clone()
	if cost == nil {
		cost = &ojson.Object{}
	}
	changed := false
	if _, said := cost.Float("usd"); out.CostUSD != nil && !said {
		cost.Set("usd", *out.CostUSD)
		changed = true
	}
	for k, v := range out.Usage.All() {
		if !cost.Has(k) {
			cost.Set(k, v)
			changed = true
		}
	}
	if !changed {
		return data, false
	}
	doc.Set("cost", cost)
	return ojson.Pretty(doc), true
}
