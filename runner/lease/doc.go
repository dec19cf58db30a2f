// Package lease handles leases, the right of one runner to carry out one turn for a time: reading one, judging its
// holder, holding its ref in the transaction that moves the run, and listing leases and their history
// (docs/leases.md). The operations on leases (issue, renew, revoke) are in package runner.
package lease
