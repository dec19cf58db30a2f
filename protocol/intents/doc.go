// Package intents has the work that people give to a run: what an intent is, the operation that records one, which
// is handed out next, what its turn has to answer, and what becomes of it. Callers read the files of intents.
package intents
