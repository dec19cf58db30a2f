// Package history is what the commits of a repository tell: which is an ancestor of which, what each changed, which
// one a line came from, what was made here or rebased. It asks git and changes nothing; what lies in the work tree
// alone is asked of the package above.
package history
