// What tests outside the package see of its inside.

package runner

import "context"

// OnlyTurnNow is onlyTurnNow.
func (r *Runner) OnlyTurnNow() string { return r.onlyTurnNow() }

// AcceptMeaning is AcceptTurn as it goes on when turn was the only active one before the lock
// was waited for.
func (r *Runner) AcceptMeaning(ctx context.Context, opt AcceptOptions, turn string) (*Accepted, error) {
	return r.acceptTurn(ctx, opt, turn)
}
