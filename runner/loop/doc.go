// Package loop drives a governed run to its end: it chooses the next turn, has it carried out,
// stages its result, accepts or rejects it, and stops for a typed reason (docs/run-loop.md). It
// never ends the process, never writes to the terminal and never chooses an adapter: all three are
// the caller's. The operations of package runner record everything that a loop decides, so another
// loop can go on where a killed one stopped.
package loop
