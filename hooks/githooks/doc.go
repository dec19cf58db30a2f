// Package githooks guards a governed repository through git's own hooks: it
// puts them in place beside the hooks that are there, and judges what git is
// about to record.
//
// A local hook is a fence for the hurried and the clever, not a wall: whoever
// owns the clone can switch it off. The same judgement runs in pre-receive,
// where no clone can.
package githooks
