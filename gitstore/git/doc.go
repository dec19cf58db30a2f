// Package git is git as the run store needs it: the program and its processes,
// which settings they see, refs, objects with their packs, trees, work trees,
// the locks of killed commands, and the error every failure becomes.
//
// It is the only package that imports go-git, and it knows nothing of runs.
package git
