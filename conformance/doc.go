// What the conformance room is and how a fixture travels through it.

// Package conformance lets another implementation's verifier, or our own,
// examine this engine: it reads one fixture, builds the state the fixture
// describes in memory, drives the very engine code the commands use, and
// compares the outcome with what the fixture expects (docs/conformance.md#our-own-corpus).
//
// A fixture travels adapter.go -> fixture.go -> workspace.go (config and state
// inflation) -> one operation file -> compare.go. Operations classify outcomes
// by typed codes and fields only, never by fixture ids, names or sentences.
package conformance
