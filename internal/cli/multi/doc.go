// Package multi is the commands of git agentxchain multi: several repositories that one
// initiative joins. What is decided there is decided in package coordinator.
package multi
