// Package evidence has what an operation is decided on: who asked for it, in which checkout, the bytes that are
// kept with its record, and the project files that a rule reads.
package evidence
