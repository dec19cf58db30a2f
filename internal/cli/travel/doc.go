// Package travel is the commands by which runs get from one machine to another: sync, claim,
// conflicts, runs, export and restore.
package travel
