// Package commits has the operations on commits of the project's own history: a checkpoint holds the files of an
// accepted turn, and a person takes their own commits into the run's baseline. Callers make and read the commits.
package commits
