// Package config has the types of agentxchain.json, its decoding and checks, its normal form, which of its members
// govern a run, and whether a change to them weakens the rules.
//
// Decode collects findings and goes on, so that a person is told all of them at once. Nothing here reads a file or
// runs a program.
package config
