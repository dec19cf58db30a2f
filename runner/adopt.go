// Adopt: a person takes over a run that another tool began.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Adoption is a run that another tool began and that waits to be adopted.
type Adoption struct {
	View     *View
	Accounts []external.Account // what it claims, each with its row
	Leaves   string             // the run this work tree was in, unless that is over; "" for none
}

// Adoptable returns the run that waits to be adopted. The error has the code nothing_to_confirm
// when there is none, and state_tampered when its rows do not account for it.
func (r *Runner) Adoptable(ctx context.Context) (*Adoption, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	if !v.Begun() {
		return nil, &wire.Error{
			Code:    protocol.CodeNothingToConfirm,
			Field:   "run_id",
			Message: "No run of another tool waits to be adopted.",
			Hint:    "git agentxchain status",
		}
	}
	return &Adoption{View: v, Accounts: r.store.Accounts(v), Leaves: v.Leaves}, nil
}

// Adopt adopts a run that another tool began: it is recorded as it is, and the same person answers
// for everything it claims, as with Confirm and under the same rules. Where these refuse, the run
// is recorded but nothing can build on it.
//
// Errors: those of Adoptable and Confirm.
func (r *Runner) Adopt(ctx context.Context, opt ConfirmOptions) (*Confirmed, error) {
	if err := r.outsideTurn("adopt a run", "git agentxchain repair --adopt"); err != nil {
		return &Confirmed{}, err
	}
	if opt.Shown == nil {
		a, err := r.Adoptable(ctx)
		if err != nil {
			return &Confirmed{}, err
		}
		opt.Shown = a.View.Open
	}
	return r.confirm(ctx, gitstore.PurposeAdopt, opt)
}
