// Package travel holds the commands that move runs from one machine to another: sync, claim,
// conflicts, runs, export and restore.
package travel
