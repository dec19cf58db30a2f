// Rows of run-history.jsonl: one per completion or block of a run, across runs (docs/spec/state.md#run-history).

package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// HistoryFacts has the facts of a row. State is the state after the completion or block.
type HistoryFacts struct {
	Config        *config.Config
	State         *State
	Index         *Index // counts and recent records of this run only
	BlockedReason string // why, in words; "" takes the block's own detail
	RecordedAt    time.Time
}

// BuildHistory returns the row. A run that blocks several times has several rows; readers take the last
// (RunHistoryRow).
func BuildHistory(f HistoryFacts) *ojson.Object {
	s, x := f.State, f.Index
	if x == nil {
		x = &Index{}
	}
	cfg := f.Config
	if cfg == nil {
		cfg = &config.Config{}
	}
	started := x.FirstAcceptedAt
	if started == "" {
		started = wire.OrEmpty(s.CreatedAt)
	}
	var completed, duration, blocked any
	status := "blocked"
	if s.Status == wire.StatusPaused { // its completion was taken back
		status = string(s.Status)
	}
	if s.Status == wire.StatusCompleted {
		status, completed = "completed", wire.OrEmpty(s.CompletedAt)
		if ms, ok := wire.DurationMS(started, wire.OrEmpty(s.CompletedAt)); ok {
			duration = ms
		}
	} else if a := s.Abandoned; s.Status == wire.StatusFailed && a != nil {
		status, blocked = "failed", a.Text()
		if ms, ok := wire.DurationMS(started, a.At); ok {
			duration = ms
		}
	} else if on := wire.OrEmpty(s.BlockedOn); on != "" {
		blocked = on
	} else {
		blocked = ojson.OrNull(f.BlockedReason)
	}
	gates := ojson.NewObject()
	for k, v := range s.PhaseGateStatus.All() {
		gates.Set(k, v)
	}
	var limit, connector any
	if cfg.Budget != nil && cfg.Budget.PerRunMaxUSD != nil {
		limit = *cfg.Budget.PerRunMaxUSD
	}
	if keys := cfg.Roles.Keys(); len(keys) > 0 {
		if r := cfg.Role(keys[0]); r != nil {
			connector = ojson.OrNull(r.RuntimeID)
		}
	}
	return ojson.NewObject(
		"schema_version", "0.1",
		"run_id", s.Run(),
		"project_id", s.ProjectID,
		"project_name", ojson.OrNull(cfg.Project.Name),
		"template", ojson.OrNull(cfg.Template),
		"status", status,
		"started_at", ojson.OrNull(started),
		"completed_at", completed,
		"duration_ms", duration,
		"phases_completed", wire.NonNil(x.PhasesDone),
		"total_turns", x.Accepted,
		"roles_used", wire.NonNil(x.RolesUsed),
		"decisions_count", x.Decisions,
		"total_cost_usd", s.BudgetStatus.SpentUSD,
		"budget_limit_usd", limit,
		"blocked_reason", blocked,
		"gate_results", gates,
		"connector_used", connector,
		"model_used", nil,
		"provenance", NormalizeProvenance(s.Provenance),
		"parent_context", parentContext(s.InheritedContext),
		"retrospective", retrospective(f, x),
		"inheritance_snapshot", ojson.NewObject("recent_decisions", cloneRows(x.RecentDecisions),
			"recent_accepted_turns", cloneRows(x.RecentTurns)),
		"recorded_at", wire.FormatTime(f.RecordedAt),
	)
}

// StandingRow returns the row that an unended run would get if it ended now, with its present status; nil for a run
// that has its row, and without a run.
func StandingRow(f HistoryFacts) *ojson.Object {
	s := f.State
	if s == nil || s.Run() == "" || s.Status == wire.StatusIdle || s.Status.Ended() {
		return nil
	}
	row := BuildHistory(f)
	row.Set("status", string(s.Status))
	return row
}

func cloneRows(rows []*ojson.Object) []*ojson.Object {
	return ojson.List(rows, (*ojson.Object).Clone)
}

func parentContext(inherited *ojson.Object) *ojson.Object {
	if inherited == nil {
		return nil
	}
	o := ojson.NewObject()
	for _, k := range []string{"parent_run_id", "parent_status", "parent_completed_at", "inherited_at"} {
		o.Set(k, inherited.Value(k))
	}
	return o
}

// retrospective summarises the run in words: {headline, terminal_reason, next_operator_action, follow_on_hint}.
func retrospective(f HistoryFacts, x *Index) *ojson.Object {
	const headline = 300
	s := f.State
	if s.Status == wire.StatusCompleted {
		text := fmt.Sprintf("Completed with %d accepted turns.", x.Accepted)
		if n := len(x.RecentTurns); n > 0 && wire.TrimSpace(x.RecentTurns[n-1].String("summary")) != "" {
			text = x.RecentTurns[n-1].String("summary")
		}
		return ojson.NewObject("headline", Clip(wire.OneLine(text), headline), "terminal_reason", "completed",
			"next_operator_action", nil,
			"follow_on_hint", fmt.Sprintf("git agentxchain run --continue-from %s --inherit-context",
				wire.ShellWord(s.Run())))
	}
	if a := s.Abandoned; s.Status == wire.StatusFailed && a != nil {
		return ojson.NewObject("headline", Clip(a.Text(), headline), "terminal_reason", "abandoned",
			"next_operator_action", CmdAssign+" --new-run",
			"follow_on_hint", fmt.Sprintf("git agentxchain run --continue-from %s --inherit-context",
				wire.ShellWord(s.Run())))
	}
	text, reason, action := f.BlockedReason, "blocked", any(nil)
	if b := s.BlockedReason; b != nil {
		text = cmp.Or(text, wire.OrEmpty(b.Recovery.Detail))
		reason = cmp.Or(b.Recovery.TypedReason, cmp.Or(b.Category, reason))
		action = ojson.OrNull(b.Recovery.RecoveryAction)
	}
	text = cmp.Or(text, wire.OrEmpty(s.BlockedOn))
	return ojson.NewObject("headline", ojson.OrNull(Clip(wire.OneLine(text), headline)), "terminal_reason", reason,
		"next_operator_action", action, "follow_on_hint", nil)
}

// RunHistoryRow returns the last row of a run, or nil: a run writes one per
// block and one at completion.
func RunHistoryRow(rows []*ojson.Object, runID string) *ojson.Object {
	if runID == "" {
		return nil
	}
	for _, row := range slices.Backward(rows) {
		if row.String("run_id") == runID {
			return row
		}
	}
	return nil
}

// Inheritable reports whether a row has something to hand on: a decision or an accepted turn in its snapshot.
func Inheritable(row *ojson.Object) bool {
	s := row.Object("inheritance_snapshot")
	return len(s.Array("recent_decisions")) > 0 || len(s.Array("recent_accepted_turns")) > 0
}
