// Delegated work that has not come back or was not reviewed (docs/spec/lifecycle.md#delegation).

package run

// DelegationOpen reports whether work was handed to another role and its results were
// not yet reviewed by the role that asked for it. Nothing moves the run on until then.
func (s *State) DelegationOpen() bool {
	return len(s.DelegationQueue) > 0 || s.PendingDelegation != nil
}

// Due is the role that the delegation waits for, "" while its turn is at work or done.
func (d *Delegation) Due() string {
	if d.Status != "pending" {
		return ""
	}
	return d.ToRole
}
