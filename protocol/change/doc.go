// Package change is the value that carries a change of a run: a Draft begins as a copy of
// what is recorded, operations alter its state, append rows and queue events, and it ends as
// the Transition that the store commits.
//
// What every operation needs beside that is here too: the block of a run and the records of
// people who are asked, the trace of rules, ids and time. Which operations there are, and
// what each asks for, is not: that is package protocol and its other rooms. Callers of the
// engine use protocol's names for Snapshot, Env and Transition and never see a Draft.
package change
