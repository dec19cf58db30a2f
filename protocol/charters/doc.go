// Package charters has the tasks of a plan in a run: queued, given to turns, done or stuck,
// and what a plan asks of the run once they are done. Whose turn it is, and what a turn's
// result is worth, is package protocol's; importing plans is the caller's.
package charters
