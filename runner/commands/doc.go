// Package commands runs the command lines that a project's files name: the actions of a gate that is approved, and
// the machine evidence of a turn's result once more. Output is bounded, each has a deadline, and its whole process
// group ends with it. Whether they may be run is asked by package runner; hooks and agents are started elsewhere.
package commands
