// Package gitstatus reads the state of the work tree from git: which paths differ from HEAD or from another commit,
// which are untracked or ignored, and what flags and rules outside the project hide from a status. It changes
// nothing; package gitstore/git/history compares commits.
package gitstatus
