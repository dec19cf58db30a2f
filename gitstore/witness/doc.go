// Package witness keeps what witnesses signed about runs: below refs while a run is among those of a repository,
// beside the list of archived runs afterwards. It says which statements count; callers decide what follows.
package witness
