// Package shared is what the commands of git agentxchain have in common: opening the
// project, telling notices, the shapes of their answers, the files they read and write.
// What belongs to one command or one group of commands lives with it; what is about the
// terminal and knows no run is package term.
package shared
