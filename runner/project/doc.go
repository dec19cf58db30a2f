// Package project treats a directory as a governed project: it sets it up from a template and checks its
// documents on their own. It does not look at what is recorded of runs, or whether the working files agree with
// it.
package project
