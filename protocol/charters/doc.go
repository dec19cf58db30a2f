// Package charters has the tasks of a plan in a run: queued, given to turns, done or stuck, and what a plan
// requests of the run once they are done. Package protocol decides whose turn it is and what a turn's result is
// worth; callers import plans.
package charters
