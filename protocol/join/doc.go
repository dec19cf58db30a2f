// Package join decides again on operations that two machines recorded concurrently: which of ours hold after
// theirs, why the others do not, and the record of such a conflict. It asks the engine for each; gitstore reads and
// writes the operations.
package join
