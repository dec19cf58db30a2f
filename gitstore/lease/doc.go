// Package lease keeps leases of turns: a ref each, moved by compare-and-swap only. What a lease says and who may have
// one is for its callers to judge.
package lease
