// Package term is the terminal's side of a command: how its line is read (flags anywhere, "--",
// operands), what help, man and completion print about it, and where its result goes (prose with
// tables, colour and a pager, or one JSON envelope), down to the exit status of every stable error
// code.
//
// A Program has the commands; Run carries out one line of it. A command receives a Factory: its
// surroundings, its output and its questions, made on first use. The package knows no project and
// no rule.
package term
