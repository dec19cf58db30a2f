// Package shared holds what the commands of git agentxchain have in common: opening the project,
// printing notices, the shapes of their answers, the files they read and write. Code of one command
// or one group of commands is in its own package; code for the terminal that knows no run is in
// package term.
package shared
