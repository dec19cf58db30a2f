// Package history reads the commits of a repository: ancestry, what each changed, which one a line came from, which
// were made here or rebased. It asks git and changes nothing; package gitstatus reads the work tree.
package history
