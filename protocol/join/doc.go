// Package join decides again on operations that two machines recorded beside each other:
// which of ours hold after theirs, why the others do not, and the record of such a
// conflict. It asks the engine for each; where operations come from and where they are
// written is gitstore's.
package join
