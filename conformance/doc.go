// The conformance package and how a fixture passes through it.

// Package conformance lets another implementation's verifier, or our own, examine this engine: it reads one
// fixture, builds in memory the state that the fixture describes, runs the same engine code as the commands, and
// compares the outcome with the expectation (docs/conformance.md#our-own-corpus).
//
// A fixture passes through adapter.go -> fixture.go -> workspace.go (which completes config and state) -> one
// operation file -> compare.go. Operations classify outcomes by typed codes and fields only, never by fixture ids,
// names or sentences.
package conformance
