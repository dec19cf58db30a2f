// Package commits has the operations on commits of the project's own history: a checkpoint
// holds the files of an accepted turn, and a person takes commits of theirs into what the run
// stands at. Making and reading commits is the caller's.
package commits
