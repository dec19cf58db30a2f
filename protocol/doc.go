// Package protocol is the pure engine of AgentXchain protocol v7.
//
// Apply computes a Transition from a Snapshot and an Operation. It reads no disk, no git, no clock and no
// randomness: everything it needs from outside is in the operation's observation and in Env, so the same operation
// on the same snapshot with the same Env gives the same bytes. The store replays recorded operations on that
// promise.
//
// Package wire has the codes, words, times and paths that the other packages share, package config the rules that a
// project sets, package run what is recorded of a run, and package result the judgement of what a turn hands in.
// Package evidence has what operations are decided on, packages gates and limits the conditions that they must
// meet, and package ledger the rows that they write. Package change has the value that carries a change; packages
// attempt, intents, leases and mail have operations of their own. Package initiative has the rules of work over
// several repositories.
package protocol
