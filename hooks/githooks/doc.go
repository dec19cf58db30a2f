// Package githooks guards a governed repository through git's own hooks: it
// puts them in place beside the hooks that are there, and judges what git is
// about to record.
//
// A local hook is a fence against haste and clever agents, not a wall: the owner of the
// clone can switch it off. The same judgement runs in pre-receive, where no clone can.
package githooks
