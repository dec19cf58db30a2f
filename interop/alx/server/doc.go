// Package server speaks the ALX protocol over HTTP (docs/alx.md): a solve is a governed run
// in a linked work tree of its own, carried out by the run loop; sessions and events
// are views of run refs. What a session was asked for is one small file; everything
// else is in git, so the next server continues where a killed one stopped
// (docs/serve.md).
package server
