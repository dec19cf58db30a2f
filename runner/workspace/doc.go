// Package workspace makes, restores and removes linked work trees with a branch and a run of their own, so that
// many runs of one repository can be active at a time. The run in one begins with Runner.StartRun; the caller
// decides which runs there are.
package workspace
