// Package runtimes is how a dispatched turn reaches the agent that does its work:
// the contract, and one package below for each type of runtime that agentxchain.json
// can name (docs/runtimes.md).
//
// A runtime reads the sealed bundle, lets the agent work and hands back what came
// of it. It never touches the run: staging, accepting, rejecting and blocking are
// for the caller.
package runtimes
