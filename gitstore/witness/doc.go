// Package witness keeps what witnesses signed of runs: below refs while a run is among those of a repository, beside
// the list of archived runs after that. It says which statements count; who asks decides what follows.
package witness
