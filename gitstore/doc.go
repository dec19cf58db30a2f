// Package gitstore is the run store: every transition of a run is one commit on
// one ref, made in a transaction under a lock, proven when it is read, and the
// working files follow. It views, commits, joins, recovers and restores.
//
// What it stands on lies below it: git, the record, the chain of operations and
// their proof. What is done with runs beyond that, such as bringing them
// together with remotes, are rooms that are given a Store.
package gitstore
