// Package bridge imports plans of the Monarchic agent protocol into governed runs and exports records of
// governed runs (docs/monarchic-export.md#kinds). ReadPlan, ForNewProject and ForProject import: a document
// becomes a graph of tasks, the graph becomes phases, roles, gates and charters. Read exports: a recorded run
// becomes objects of the protocol.
package bridge
