// What attempts cost, and what happens when the budget is used up (docs/spec/lifecycle.md#budget, §14 row 24: every
// attempt is charged, refused ones too).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// stagedCost returns the cost that a refused result states; a cost that cannot be read counts as zero.
func stagedCost(b *evidence.Blob) float64 {
	if b == nil {
		return 0
	}
	doc, err := DecodeStaged("", b.Data)
	if err != nil {
		return 0
	}
	return run.RowCost(doc.Object("cost"))
}

// charge records what an attempt cost.
func charge(t *change.Draft, usd float64) {
	b := &t.State.BudgetStatus
	b.SpentUSD = min(b.SpentUSD+run.Sane(usd), run.MaxSpentUSD)
	b.RemainingUSD = nil
	if limit := run.FreshBudget(t.Config).RemainingUSD; limit != nil {
		b.RemainingUSD = new(*limit - b.SpentUSD)
	}
}

// exhaustBudget blocks or warns once the limit is reached. It does nothing when the same turn completes the run or
// makes it wait for approval.
func exhaustBudget(t *change.Draft, turn *run.Turn) {
	s := t.State
	b := &s.BudgetStatus
	traceBudget(t)
	if b.RemainingUSD == nil || *b.RemainingUSD > 0 {
		return
	}
	limit := b.SpentUSD + *b.RemainingUSD
	b.Extra.Set("exhausted", true)
	if _, known := b.Extra.Get("exhausted_at"); !known {
		b.Extra.Set("exhausted_at", t.Env.Time())
		b.Extra.Set("exhausted_after_turn", turn.TurnID)
	}
	detail := fmt.Sprintf("Run budget used up: $%.2f spent of $%.2f", b.SpentUSD, limit)
	if warnOnly(t.Config) {
		b.Extra.Set("warn_mode", true)
		t.LastEvent(run.EventBudgetExceededWarn, turn, ojson.NewObject("spent_usd", b.SpentUSD, "limit_usd", limit,
			"remaining_usd", *b.RemainingUSD, "warning", detail))
		return
	}
	if s.Status == wire.StatusActive {
		next := run.CmdAdopt
		if t.Earlier.BudgetUnblocked {
			next = run.CmdUnblock
		}
		t.Block(change.Block{
			On:          "budget:exhausted",
			Category:    "budget_exhausted",
			TypedReason: "budget_exhausted",
			Owner:       run.OwnerHuman,
			Action:      "Raise budget.per_run_max_usd in agentxchain.json, then run: " + next,
			Detail:      detail,
			Turn:        turn,
			Retained:    s.ActiveTurns.Has(turn.TurnID),
		})
	}
}

func warnOnly(cfg *config.Config) bool { return cfg.Budget != nil && cfg.Budget.OnExceed == "warn" }

// dearTurn says that a turn cost more than one turn may; "" when it did not.
func dearTurn(t *change.Draft, turn *run.Turn, usd float64) string {
	b := t.Config.Budget
	if b == nil || t.Earlier.BudgetUnblocked || b.PerTurnMaxUSD == nil || *b.PerTurnMaxUSD <= 0 ||
		usd <= *b.PerTurnMaxUSD {
		return ""
	}
	text := fmt.Sprintf("The turn cost $%.2f, $%.2f more than budget.per_turn_max_usd allows ($%.2f)", usd,
		usd-*b.PerTurnMaxUSD, *b.PerTurnMaxUSD)
	t.LastEvent(run.EventBudgetExceededWarn, turn,
		ojson.NewObject("scope", "turn", "spent_usd", usd, "limit_usd", *b.PerTurnMaxUSD, "warning", text))
	return text + "."
}

// Affordable says why the budget refuses the role another turn; nil when it allows one.
func Affordable(cfg *config.Config, s *run.State, role string) *wire.Error {
	_, err := reserve(cfg, s, role)
	return err
}

// solvent refuses to start another attempt when nothing remains to pay for it.
func solvent(cfg *config.Config, s *run.State) *wire.Error {
	r := s.BudgetStatus.RemainingUSD
	if cfg.Budget == nil || r == nil || *r > 0 || warnOnly(cfg) {
		return nil
	}
	return &wire.Error{Code: wire.CodeBudgetExhausted, Field: "budget.per_run_max_usd",
		Message: fmt.Sprintf("The run's budget is used up: $%.2f spent.", s.BudgetStatus.SpentUSD),
		Hint:    "raise budget.per_run_max_usd in agentxchain.json, then: " + run.CmdAdopt}
}
