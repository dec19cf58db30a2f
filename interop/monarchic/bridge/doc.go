// Package bridge carries plans of the Monarchic agent protocol into governed runs
// and records of governed runs out again (docs/monarchic-export.md#kinds). ReadPlan, ForNewProject and
// ForProject are the way in: a document becomes a graph of tasks, the graph becomes
// phases, roles, gates and charters. Read is the way out: a recorded run becomes
// objects of the protocol.
package bridge
