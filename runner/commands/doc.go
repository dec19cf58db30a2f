// Package commands runs the command lines that a project's files name: the actions of a gate that is approved, and
// the machine evidence of a turn's result again. Output is bounded, each command has a deadline, and its whole
// process group ends with it. Package runner decides whether they may run; hooks and agents are started elsewhere.
package commands
