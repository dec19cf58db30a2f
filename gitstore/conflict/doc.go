// Package conflict keeps the operations that failed when two sides of a run were joined, and how each conflict was
// settled. The store does the joining.
package conflict
