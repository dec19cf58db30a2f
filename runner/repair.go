// Repair: choosing a side where working files and record disagree, and who may choose.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Repair takes one side of a disagreement between the working files and the recorded run, see
// gitstore.Store.Repair. Declaring the working files right is a person's decision: it is refused
// inside a dispatched turn (code inside_dispatched_turn), whose agent may have changed them.
func (r *Runner) Repair(ctx context.Context, mode gitstore.RepairMode,
	opt gitstore.RepairOptions) (*gitstore.RepairPlan, error) {
	var err error
	switch {
	case opt.DryRun:
	case opt.FromOp != "":
		err = r.outsideTurn("drop recorded operations", "git agentxchain repair --from-op")
	case mode == gitstore.AcceptWorking:
		err = r.outsideTurn("declare the working files right", "git agentxchain repair --accept-working --reason TEXT")
	}
	if err != nil {
		return nil, err
	}
	if opt.Wait == 0 {
		opt.Wait = r.opt.LockWait
	}
	return r.store.Repair(ctx, mode, opt)
}

// outsideTurn refuses to an agent what would change the record it is judged by.
func (r *Runner) outsideTurn(what, command string) error {
	id := r.InsideTurn()
	if id == "" {
		return nil
	}
	return &wire.Error{
		Code:    wire.CodeInsideTurn,
		Field:   "turn_id",
		Message: "Turn " + id + " cannot " + what + ": this process was dispatched for it.",
		Hint:    "a person runs " + command + " outside of the turn",
	}
}

// CompleteFiles does only what every changing command begins with: it completes working files that are behind the
// recorded run and records permitted changes of another tool. The notices say what was done.
func (r *Runner) CompleteFiles(ctx context.Context, purpose string) ([]string, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	tx, err := r.store.Begin(ctx, purpose, r.opt.LockWait)
	if err != nil {
		return nil, err
	}
	return tx.View().Notices, tx.Close()
}
