// Package lease is the right of one runner to carry out one turn for a time: looking at it, judging who asks under
// it, holding its ref in the transaction that moves the run, lists and what became of one (docs/leases.md). What
// happens to leases (issue, renew, revoke) are operations of package runner.
package lease
