// Package dispatch renders what an actor is handed for one turn and seals it.
//
// A bundle is three files: ASSIGNMENT.json (the contract as data), PROMPT.md
// (what to do and how to answer) and CONTEXT.md (what the run looks like).
// Everything here is a pure function of its input: the store writes the files,
// and the caller supplies the few project files that previews quote.
//
// Section headings and member names are wire (docs/bundles.md#what-is-in-it); the prose is
// this implementation's own.
package dispatch
