// Package loop drives a governed run to its end: it asks whose turn it is, has the
// turn carried out, stages, accepts or sends back, and stops for a typed reason
// (docs/run-loop.md). It never ends the process, never writes to the terminal and never
// chooses an adapter: all three are the caller's. Everything a loop decides is
// recorded by the operations of package runner, so a loop that was killed is
// followed by another that goes on where the first one was.
package loop
