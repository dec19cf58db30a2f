// Package proposal is what roles that cannot write proposed: read from the record, carried over to files that have
// moved on, and written into the work tree where that is safe. Deciding about one is an operation of package
// runner.
package proposal
