// Package git is git as the run store needs it: the program and its processes, the settings they see, refs, objects
// with their packs, trees, work trees, and the locks of killed commands.
//
// Only this package and those below it run git or import go-git, and they know nothing about runs.
package git
