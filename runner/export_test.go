// What tests outside the package see of its inside.

package runner

// OnlyTurnNow is onlyTurnNow.
func (r *Runner) OnlyTurnNow() string { return r.onlyTurnNow() }

// Meaning is o as AcceptTurn would have it had turn been the only active one
// before the lock was waited for.
func (o AcceptOptions) Meaning(turn string) AcceptOptions {
	o.meant = turn
	return o
}
