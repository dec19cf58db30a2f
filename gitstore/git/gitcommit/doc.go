// Package gitcommit commits files of the work tree with git's own commit: the person's hooks, identity and signing
// apply, other staged changes stay staged, and neither git's housekeeping nor a power cut loses any of it. A lost
// commit is taken back. The caller decides which files to commit, and why; package gitstore/git/history reads
// commits.
package gitcommit
