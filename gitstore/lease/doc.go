// Package lease stores leases of turns: one ref each, moved by compare-and-swap only. Callers decide what a lease
// says and who may have one.
package lease
