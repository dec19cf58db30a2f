// Package gitstatus is what git says of the work tree: which paths differ from HEAD or from another commit, which
// are untracked or ignored, and what flags and rules outside of the project hide from a status. Nothing is changed;
// what commits say of each other is in gitstore/git/history.
package gitstatus
