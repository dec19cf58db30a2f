// Package attempt has the operations on an attempt at a turn before its result is judged: dispatched, at work,
// silent, out of time. Callers start and watch the agent.
package attempt
