// Package attempt has the operations on an attempt at a turn before its result is judged:
// dispatched, at work, silent, out of time. Starting and watching what does the work is the
// caller's.
package attempt
