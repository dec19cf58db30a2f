// Package gitconfig is git's configuration as data: the lines of a file, read as git reads them, and the effect of
// each key. Package git decides which files to read, and what our gits are told.
package gitconfig
