// Package chain reads the operations of recorded runs: which runs there are, a run's log, one operation with its
// inputs, a run as one operation left it. It needs a repository but no work tree, and proves nothing: package proof
// decides whether operations are valid.
package chain
