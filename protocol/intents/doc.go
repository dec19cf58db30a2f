// Package intents has the work that people put in front of a run: what an intent is, the
// operation that records one, which is handed out next, what its turn has to answer, and
// what becomes of it. Reading the files of intents is the caller's.
package intents
