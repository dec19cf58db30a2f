// Package gitconfig is git's configuration as data: the lines of a file, read as git reads them, and what each key can
// do. Which files there are, and what a git of ours is told of them, is the package's above.
package gitconfig
