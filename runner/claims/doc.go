// Package claims reports the claims of turns as this clone sees them: who works on a turn, until when by the local
// clock, and whether its time is up. Taking, keeping and giving up a claim is an operation of package runner.
package claims
