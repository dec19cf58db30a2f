// What the coordinator package is and how a document travels through it.

// Package coordinator governs one initiative over several repositories: a configuration of repositories and
// workstreams, barriers between them, and a history projected from what each repository has accepted, never
// invented (docs/coordinator.md).
//
// The rules are in package protocol/initiative, which is pure: its functions take a Workspace (the documents as
// read) and return a Change (rows to append, documents to replace). This package has the side effects: places.go
// judges paths on disk, files.go reads a workspace and applies a Change, so that either all of its files are new
// or, after a crash, the next reader finishes the change.
//
// History is the authority and barriers are derived from it: every barrier can be recomputed from the rows of the
// same super run.
package coordinator
