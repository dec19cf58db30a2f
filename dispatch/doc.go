// Package dispatch renders what an actor receives for one turn, and seals it.
//
// A bundle is three files: ASSIGNMENT.json (the contract as data), PROMPT.md (what to do and how to answer) and
// CONTEXT.md (the state of the run). Everything here is a pure function of its input: the store writes the files,
// and the caller supplies the few project files that previews quote.
//
// Section headings and member names are part of the protocol (docs/bundles.md#what-is-in-it); the prose is this
// implementation's own.
package dispatch
