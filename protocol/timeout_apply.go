// Time limits applied after an acceptance (docs/spec/gates.md#timeouts).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// timeouts applies the time limits after an acceptance (docs/spec/gates.md#timeouts). A phase is never skipped over
// a person's gate. said tells the person what was done about a limit.
func timeouts(t *change.Draft, turn *run.Turn, files []evidence.FileBlob) (said []string) {
	hits := limits.EvaluateTimeouts(t.Config, t.State, turn, t.Env.Now)
	traceTimeouts(t, turn)
	entry := func(kind string, h limits.TimeoutHit) *ojson.Object {
		return ledger.NewTimeoutEntry(kind, t.Env.Time(), turn.TurnID, t.State.Phase, h)
	}
	acted := false
	for _, h := range hits {
		if h.Action == "warn" {
			t.Append(wire.LedgerDecisions, entry("timeout_warning", h))
			said = append(said, h.Detail()+". The run goes on: the limit only warns.")
			continue
		}
		if acted || t.State.Status != wire.StatusActive {
			continue
		}
		acted = true
		if h.Action == "skip_phase" && h.Scope == "phase" {
			skipped, why := skipPhase(t, h, files, entry)
			if skipped {
				said = append(said, fmt.Sprintf("%s. The phase was left for %q, its gate passes.", h.Detail(),
					t.State.Phase))
				continue
			}
			said = append(said, h.Detail()+". The phase was not skipped: "+why+".")
		}
		t.Append(wire.LedgerDecisions, entry("timeout", h))
		t.Block(change.Block{On: "timeout:" + h.Scope, Category: "timeout", TypedReason: "timeout", Owner: "operator",
			Action: "git agentxchain unblock", Turn: turn, Retained: t.State.ActiveTurns.Len() > 0,
			Detail: h.Detail()})
	}
	return said
}

// skipPhase tries to leave an overdue phase; the gate's own predicates decide.
func skipPhase(t *change.Draft, h limits.TimeoutHit, files []evidence.FileBlob, entry func(string,
	limits.TimeoutHit) *ojson.Object) (skipped bool, why string) {
	next := t.Config.NextPhase(t.State.Phase)
	switch {
	case next == "":
		return false, "it is the last one"
	case t.State.ActiveTurns.Len() > 0:
		return false, "other turns are at work"
	case len(t.State.OpenCharters()) > 0:
		return false, "charters are open"
	case t.State.DelegationOpen():
		return false, "delegated work is open"
	}
	in := gateInput(t, files)
	in.TransitionRequest = new(next)
	verifiedBy(&in, t.Index.LastRow)
	g := phaseGate(t, in)
	from := t.State.Phase
	if g.Action == gates.ActionAdvance {
		row := entry("timeout_skip", h)
		row.Set("from_phase", from)
		row.Set("to_phase", next)
		row.Set("gate_id", g.GateID)
		t.Append(wire.LedgerDecisions, row)
		advance(t, &g, "", "auto")
		return true, ""
	}
	reasons := wire.NonNil(g.Reasons)
	if g.Action == gates.ActionAwaitHuman {
		reasons = []string{fmt.Sprintf("gate %q needs a person's approval; a timeout cannot pass it",
			wire.OrEmpty(g.GateID))}
	} else {
		gateFailed(t, &g, run.GatePhase, "", false)
	}
	row := entry("timeout_skip_failed", h)
	row.Set("from_phase", from)
	row.Set("to_phase", next)
	row.Set("gate_id", g.GateID)
	row.Set("reasons", reasons)
	t.Append(wire.LedgerDecisions, row)
	return false, reasonProblems(reasons).Join()
}
