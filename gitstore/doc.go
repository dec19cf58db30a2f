// Package gitstore is the run store: every transition of a run is one commit on
// one ref, made in a transaction under a lock, proven when it is read, and the
// working files follow. It recovers, replays, restores, and acts on sibling
// repositories.
//
// Git itself is package git below it.
package gitstore
