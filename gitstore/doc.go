// Package gitstore is the run store: every transition of a run is one commit on one ref, made in a transaction
// under a lock and proven when it is read; the working files follow. It views, commits, joins, recovers and
// restores.
//
// The packages below it provide git, the record, the chain of operations and their proof. Other packages, such as
// the one that syncs runs with remotes, are given a Store.
package gitstore
