// Turn results as documents: whether it is one, of which attempt, and what it cost.

package loop

import (
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// envelope says why data cannot be a turn result, "" when it may be one.
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
func ofAttempt(turn *run.Turn, st turnfiles.Facts) bool {
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
	// File systems use a clock that ticks every few milliseconds.
	return !st.ModTime.Before(at.Add(-20 * time.Millisecond))
}

// withCost writes the cost that the runtime measured into a result. The measured figures count: an
// agent's own figures are a claim, which is kept beside them as cost.claimed where it differs
// (docs/run-loop.md#cost).
func withCost(data []byte, out *runtimes.Outcome) ([]byte, bool) {
	if out.CostUSD == nil && out.Usage == nil {
		return data, false
	}
	doc, refusal := protocol.DecodeStaged("the result", data)
	if refusal != nil {
		return data, false
	}
	measured := ojson.NewObject()
	if out.Usage != nil {
		measured = out.Usage.Clone()
	}
	if out.CostUSD != nil {
		measured.Set("usd", *out.CostUSD)
	}
	cost, claimed := doc.Object("cost").Clone(), ojson.NewObject()
	if cost == nil {
		cost = &ojson.Object{}
	}
	changed := false
	for key, value := range measured.All() {
		said, has := cost.Get(key)
		if has && ojson.Equal(said, value) {
			continue
		}
		if has && !isZero(said) {
			claimed.Set(key, said)
		}
		cost.Set(key, value)
		changed = true
	}
	if said, has := cost.Get("usd"); has && isZero(said) && !measured.Has("usd") {
		// The agent used something and does not know the price: the cost is not zero.
		cost.Delete("usd")
		changed = true
	}
	if !changed {
		return data, false
	}
	if claimed.Len() > 0 {
		cost.Set("claimed", claimed)
	}
	doc.Set("cost", cost)
	return ojson.Pretty(doc), true
}

// isZero reports whether a figure is the placeholder of a result template.
func isZero(v ojson.Value) bool {
	n, ok := v.(ojson.Number)
	if !ok {
		return v == nil
	}
	f, ok := n.Float64()
	return ok && f == 0
}
