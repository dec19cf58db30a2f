// Package multi holds the commands of git agentxchain multi: several repositories that one
// initiative joins. Package coordinator makes the decisions.
package multi
