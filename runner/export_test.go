// What tests outside the package can use of its internals.

package runner

import "context"

// OnlyTurnNow is onlyTurnNow.
func (r *Runner) OnlyTurnNow() string { return r.onlyTurnNow() }

// AcceptMeaning is AcceptTurn after the wait for the lock, when turn was the only active one before
// it.
func (r *Runner) AcceptMeaning(ctx context.Context, opt AcceptOptions, turn string) (*Accepted, error) {
	return r.acceptTurn(ctx, opt, turn)
}
