// Delegated work whose results are still out or were not reviewed (docs/spec/lifecycle.md#delegation).

package run

// DelegationOpen reports whether work was delegated to another role and the delegating role has not yet reviewed
// its results. Until then nothing moves the run on.
func (s *State) DelegationOpen() bool {
	return len(s.DelegationQueue) > 0 || s.PendingDelegation != nil
}

// Due returns the role that the delegation waits for; "" while its turn is at work or done.
func (d *Delegation) Due() string {
	if d.Status != "pending" {
		return ""
	}
	return d.ToRole
}
