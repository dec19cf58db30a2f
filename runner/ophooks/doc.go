// Package ophooks is the lifecycle hooks of one operation: what the hooks of each phase are told, running them as
// far as this machine trusts them, and what a no means for the run. When they are asked, and what is recorded of
// their answers, is decided in package runner; starting a hook and guarding the files is done in package hooks.
package ophooks
