// Package provenance tells other tools what is recorded of governed work: in-toto Statements v1 with SLSA
// provenance of a turn, the state of a run, or the SLSA verification summary of a range, and Agent Trace records
// (docs/ci.md#attestations).
//
// It signs nothing and does not use the network.
package provenance
