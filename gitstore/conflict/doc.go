// Package conflict keeps operations that did not hold when two sides of a run were joined, each with what became of
// it. The joining itself is the store's.
package conflict
