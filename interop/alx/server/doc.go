// Package server serves the ALX protocol over HTTP (docs/alx.md): a solve is a governed run in a
// linked work tree of its own, carried out by the run loop; sessions and events are views of run
// refs. One small file says what a session was asked for; everything else is in git, so the next
// server continues where a killed one stopped (docs/serve.md).
package server
