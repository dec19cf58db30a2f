// Package decision moves the refs of several repositories together or not at all (docs/siblings.md): each ref is
// locked where it is, the outcome is one file in the workspace, and a command that enters a repository after a
// crash finds a note of the decision there and settles it. It is a two-phase commit whose log is that file.
package decision
