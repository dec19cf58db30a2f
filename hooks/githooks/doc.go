// Package githooks guards a governed repository through git's own hooks: it installs them beside existing hooks,
// and judges what git is about to record.
//
// A local hook guards against haste and clever agents, but is not a wall: the owner of the clone can switch it off.
// The same judgement runs in pre-receive, out of reach of any clone.
package githooks
