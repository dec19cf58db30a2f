// Package proposal handles what roles that cannot write proposed: it reads proposals from the record, carries them
// over to files that have changed since, and writes them into the work tree where that is safe. Deciding about one is
// an operation of package runner.
package proposal
