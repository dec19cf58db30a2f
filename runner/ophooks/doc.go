// Package ophooks handles the lifecycle hooks of one operation: what the hooks of each phase are told, running them
// if this machine trusts them, and what a no means for the run. Package runner decides when they run and what is
// recorded of their answers; package hooks starts a hook and guards the files.
package ophooks
