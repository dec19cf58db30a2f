// Package driver has a runtime carry out a dispatched turn: it opens the sealed bundle, asks
// whether the runtime may be used on this machine, marks the agent's processes, keeps log and
// progress, and holds the agent to its time (docs/runtimes.md). It never changes the run itself.
package driver
