// Conflicts between two sides of a run that were joined, and the ways to settle them
// (docs/teams.md).

package runner

import (
	"context"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/conflict"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Conflicts lists what did not hold when two sides of a run of the project were joined.
func (r *Runner) Conflicts(ctx context.Context) ([]*Conflict, error) {
	return r.store.Conflicts(ctx)
}

// Conflict returns the conflict that an operation id or its beginning names, with the ways that are still open.
// Errors: not_found, run_foreign.
func (r *Runner) Conflict(ctx context.Context, name string) (*Conflict, error) {
	c, err := r.store.Conflict(ctx, name)
	if err != nil || !slices.Contains(c.Ways, join.WayAccept) {
		return c, err
	}
	if v, err := r.View(ctx); err == nil && !atWork(v, c) {
		c.Ways = slices.DeleteFunc(c.Ways, func(w string) bool { return w == join.WayAccept })
	}
	return c, nil
}

// atWork reports whether the turn of a conflict is active here, so that its result can be judged again.
func atWork(v *View, c *Conflict) bool {
	_, active := v.State.ActiveTurns.Get(c.Turn)
	return active && v.Run == c.Run
}

// Ways out of a conflict.
const (
	SettleDrop    = "drop"    // the losing work is given up, for a reason
	SettleOurs    = "ours"    // the losing result is staged again, for its turn
	SettleReissue = "reissue" // the losing result is laid out as material for another turn
	SettleAgain   = "again"   // a person decides again
)

// CodeConflictSettled means that a conflict was already settled.
const CodeConflictSettled = "conflict_settled"

// Settle ends a conflict and returns the file that the losing result was written to, "" for none.
// Only a person can do it.
//
// Errors: inside_dispatched_turn, not_found, run_foreign, conflict_settled, reason_required,
// invalid_argument, turn_not_active, file_exists.
func (r *Runner) Settle(ctx context.Context, name, how, because string) (*Conflict, string, error) {
	if err := r.personOnly("settle a conflict", "git agentxchain conflicts"); err != nil {
		return nil, "", err
	}
	c, err := r.store.Conflict(ctx, name)
	if err != nil {
		return nil, "", err
	}
	if c.Status == join.ConflictSettled {
		return c, "", &wire.Error{
			Code:    CodeConflictSettled,
			Message: "The conflict was settled before: " + c.Settled + " by " + c.By + ".",
			Hint:    "git agentxchain conflicts",
		}
	}
	way, file := map[string]string{SettleReissue: join.WayReissue, SettleAgain: join.WayAgain}[how], ""
	if way != "" && !slices.Contains(c.Ways, way) {
		return c, "", &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "op",
			Message: "That does not settle this conflict, which is about " + c.Name + ".",
			Hint:    "git agentxchain conflicts " + c.Op[:12] + " shows the ways out",
		}
	}
	switch how {
	case SettleDrop:
		if because == "" {
			return c, "", &wire.Error{Code: wire.CodeReasonRequired, Message: "Dropping recorded work needs a reason.",
				Hint: "git agentxchain conflicts " + c.Op[:12] + " --drop --because TEXT"}
		}
	case SettleOurs, SettleReissue:
		if file, err = r.layOut(ctx, c, how); err != nil {
			return c, "", err
		}
	}
	return c, file, conflict.Settle(ctx, r.store.Repository(), r.store.Env(ctx), c, how, because)
}

// layOut puts the losing result where it can be used: in the staging place of its turn, or among
// the kept files.
func (r *Runner) layOut(ctx context.Context, c *Conflict, how string) (string, error) {
	data, err := conflict.LosingResult(ctx, r.store.Repository(), c)
	if err != nil {
		return "", err
	}
	if data == nil {
		if how == SettleReissue {
			return "", nil
		}
		return "", &wire.Error{Code: wire.CodeInvalidArgument, Field: "op",
			Message: "The conflict is about " + c.Name + ", which has no result to take.",
			Hint:    "git agentxchain conflicts " + c.Op[:12] + " shows the ways out"}
	}
	file := ".agentxchain/transactions/conflict-" + c.Op[:12] + "/turn-result.json"
	if how == SettleOurs {
		v, err := r.View(ctx)
		if err != nil {
			return "", err
		}
		if !atWork(v, c) {
			return "", &wire.Error{
				Code:    wire.CodeTurnNotActive,
				Field:   "turn_id",
				Message: "Turn " + c.Turn + " is not active here, so its losing result cannot be judged again.",
				Hint: "git agentxchain conflicts " + c.Op[:12] +
					" --reissue keeps the result as material for another turn",
			}
		}
		file = wire.StagingPath(c.Turn)
	}
	if err := r.store.MakeDir(path.Dir(file)); err != nil {
		return "", err
	}
	return file, r.store.WriteNew([]gitstore.NewFile{{Path: file, Data: data}})
}
