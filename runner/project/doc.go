// Package project is a directory as a governed project: set up from a template, and its documents judged by
// themselves. What is recorded of runs, and whether the working files agree with it, is not looked at here.
package project
