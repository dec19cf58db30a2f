// Package driver brings a dispatched turn to its runtime and back: it opens the
// sealed bundle, asks whether the runtime may be used on this machine, marks the
// agent's processes, keeps log and progress, and holds the agent to its time
// (docs/runtimes.md). The run itself it never changes.
package driver
