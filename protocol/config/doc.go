// Package config is agentxchain.json: its types, how it is decoded and judged,
// its normal form, which of its members govern a run and whether a change of
// them weakens the rules.
//
// Decode collects findings and goes on, so that a person is told of all of them
// at once. Nothing here reads a file or runs a program.
package config
