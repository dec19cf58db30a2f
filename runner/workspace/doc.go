// Package workspace makes, restores and removes linked work trees with a branch and a run of their own, so that
// many runs of one repository can be at work at a time. The run in one begins with Runner.StartRun; which runs
// there are to be is for the caller.
package workspace
