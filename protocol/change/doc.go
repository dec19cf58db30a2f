// Package change has the value that carries a change of a run: a Draft starts as a copy of what is recorded,
// operations alter its state, append rows and queue events, and it ends as the Transition that the store commits.
//
// It also has what every operation needs: the block of a run and its escalation records, the trace of rules, ids
// and time. Package protocol and its subpackages have the operations and their conditions. Callers of the engine
// use protocol's names for Snapshot, Env and Transition and never see a Draft.
package change
