// Package decision moves the refs of several repositories together or not at all
// (docs/siblings.md): each ref is locked where it is, the outcome is one file in the
// workspace, and a command that comes to a repository after a crash finds a note of it there
// and settles what was decided. It is a two-phase commit whose log is that file.
package decision
