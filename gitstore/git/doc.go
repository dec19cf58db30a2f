// Package git is git as the run store needs it: the program and its processes,
// which settings they see, refs, objects with their packs, trees, work trees, and
// the locks of killed commands.
//
// It and the packages below it are the only ones that run git or import go-git, and
// they know nothing of runs.
package git
