// Package runtimes defines how a dispatched turn reaches the agent that does its work: the
// contract, and one package below for each type of runtime that agentxchain.json can name
// (docs/runtimes.md).
//
// A runtime reads the sealed bundle, lets the agent work and returns the outcome. It never touches
// the run: staging, accepting, rejecting and blocking are the caller's work.
package runtimes
