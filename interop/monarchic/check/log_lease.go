// Leases through time: transitions, fencing, one holder at a time (docs/leases.md).

package check

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// leaseMoves returns the states that a lease can go to from each.
func leaseMoves(from string) []string {
	switch from {
	case "issued":
		return []string{"active", "cancelled", "rejected", "expired"}
	case "active":
		return []string{"released", "cancelled", "rejected", "expired"}
	}
	return nil
}

// lease takes the next state of a lease.
func (l *log) lease(r *record) {
	id, status := r.obj.String("lease_id"), r.obj.String("status")
	step := key{r.obj.String("run_id"), r.obj.String("step_id")}
	if before := l.leases[id]; before != nil {
		was := before.obj.String("status")
		if was != status && !slices.Contains(leaseMoves(was), status) {
			r.fail("status", "log.lease_transition",
				fmt.Sprintf("lease %s was %s and cannot become %s", ojson.Shown(id), was, status))
		}
	}
	l.fence(r, step)
	l.leases[id] = r
	switch holder := l.active[step]; {
	case status == "active" && holder != "" && holder != id:
		r.fail("status", "log.lease_exclusive",
			fmt.Sprintf("lease %s of the same step is active", ojson.Shown(holder)))
	case status == "active":
		l.active[step] = id
	case holder == id:
		delete(l.active, step)
	}
}

// fence: a lease that takes over a step has another token of the same scope, issued later.
func (l *log) fence(r *record, step key) {
	before := l.tokens[step]
	if before == nil {
		l.tokens[step] = r
		return
	}
	old, now := before.obj.Object("fencing_token"), r.obj.Object("fencing_token")
	same := before.obj.String("lease_id") == r.obj.String("lease_id") &&
		before.obj.String("runner_id") == r.obj.String("runner_id") &&
		before.obj.String("session_id") == r.obj.String("session_id")
	if old == nil || now == nil || same && old.String("token") == now.String("token") {
		return
	}
	if earlier := l.leases[r.obj.String("lease_id")]; earlier != nil && earlier != before &&
		earlier.obj.Object("fencing_token").String("token") == now.String("token") {
		return // the end of a lease that was taken over
	}
	x, y := moment(old, "issued_at_ms"), moment(now, "issued_at_ms")
	switch {
	case old.String("token") == now.String("token"):
		r.fail("fencing_token", "log.fencing", "a lease that changes hands needs another fencing token")
	case old.String("scope") != now.String("scope"):
		r.fail("fencing_token", "log.fencing", fmt.Sprintf("the fencing token is for %s, the one before for %s",
			ojson.Shown(now.String("scope")), ojson.Shown(old.String("scope"))))
	case x != nil && y != nil && y.Cmp(x) <= 0:
		r.fail("fencing_token", "log.fencing",
			fmt.Sprintf("the fencing token was issued at %s, not after the one before (%s)", y, x))
	}
	l.tokens[step] = r
}
