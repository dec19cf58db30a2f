// What the restore room is and how an artifact passes through it.

// Package restore writes and judges export artifacts: one JSON document that
// carries a governed run, or an initiative with the runs of its repositories, to
// an auditor or to another machine (docs/export.md). What people read of an artifact
// is package account below it; comparing runs, builds and replaying have packages of
// their own beside that.
//
// Artifacts can be larger than memory. Verify walks one once, from the first byte
// to the last, and holds one file of it at a time; Export reads each file of the
// project once, under the project's lock, into a temporary file, and hands the
// finished document on after the lock is gone.
package restore
