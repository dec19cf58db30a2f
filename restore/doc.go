// What the restore package is and how an artifact passes through it.

// Package restore writes and judges export artifacts: one JSON document that carries a governed run, or an
// initiative with the runs of its repositories, to an auditor or to another machine (docs/export.md). The
// subpackage account makes the report for people; comparing runs, build formats and replay have their own packages
// beside it.
//
// Artifacts can be larger than memory. Verify reads one once, from the first byte to the last, and holds one of its
// files at a time; Export reads each file of the project once, under the project's lock, into a temporary file, and
// writes the finished document after releasing the lock.
package restore
