// Package gitcommit commits files of the work tree with git's own commit: the person's hooks, identity and signing
// apply, what else is staged stays so, and git's housekeeping and a power cut take nothing of it. A commit that was
// lost is taken back. Which files, and why, is for those above; commits that are only read are those of
// gitstore/git/history.
package gitcommit
